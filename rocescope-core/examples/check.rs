//! temporary
use rocescope_core::*;
use rocescope_core::encap::*;
use rocescope_core::partition::*;
use rocescope_core::report::FrameRef;
fn be16(b:&[u8],o:usize)->u16{u16::from_be_bytes([b[o],b[o+1]])}
fn locate(link:u32,f:&[u8])->Option<Located<'_>>{
  let (mut et,mut o)= if link==113 {(be16(f,14),16)} else if link==276 {(be16(f,0),20)} else {(be16(f,12),14)};
  let mut vlan=None;
  while matches!(et,0x8100|0x88a8){ vlan=Some(Vlan{pcp:f[o]>>5,dei:false,vid:be16(f,o)&0xfff}); et=be16(f,o+2); o+=4; }
  let n=&f[o..];
  let mut macs=[0;12]; if link==1 {macs.copy_from_slice(&f[..12]);}
  let base=|carrier,src,dst,sport,tc,ttl,id,tr:usize,wl:u32|Some(Located{carrier,src,dst,udp_source_port:sport,traffic_class:tc,hop_limit:ttl,ip_id:id,vlan,macs,transport:{let t=n.get(tr..)?; &t[..t.len().min(wl as usize)]},wire_len:wl,network:n,tunnel_source:None,cut_by_mirror:false});
  let v6=|o:usize|{let mut a=[0u8;16];a.copy_from_slice(&n[o..o+16]);Address::V6(a)};
  match et {
    0x0800=>{ let ihl=(n[0]&15) as usize*4; if n[9]!=17 || be16(n,6)&0x1fff!=0 {return None;} if be16(n,ihl+2)!=4791 {return None;}
      base(Carrier::RoceV2Ipv4,Address::V4([n[12],n[13],n[14],n[15]]),Address::V4([n[16],n[17],n[18],n[19]]),be16(n,ihl),n[1],n[8],Some(be16(n,4)),ihl+8,be16(n,ihl+4) as u32-8)}
    0x86dd=>{ if n[6]!=17 || be16(n,42)!=4791 {return None;} base(Carrier::RoceV2Ipv6,v6(8),v6(24),be16(n,40),(n[0]<<4)|(n[1]>>4),n[7],None,48,be16(n,44) as u32-8)}
    0x8915=>base(Carrier::RoceV1,v6(8),v6(24),0,(n[0]<<4)|(n[1]>>4),n[7],None,40,be16(n,4) as u32),
    _=>None }
}
fn main(){
  let p=std::env::args().nth(1).unwrap(); let f=std::fs::read(p).unwrap();
  let mut part=Partition::new(std::sync::Arc::new(settings::Settings::default()));
  let ns=f[0]==0x4d; let link=f[20] as u32|((f[21] as u32)<<8); let mut o=24; let mut n=0; let mut last=Time(0);
  let le=|o:usize|u32::from_le_bytes(f[o..o+4].try_into().unwrap());
  while o+16<=f.len(){ let (s,u,c,w)=(le(o),le(o+4),le(o+8) as usize,le(o+12)); if o+16+c>f.len(){break;} let d=&f[o+16..o+16+c]; o+=16+c; n+=1;
    last=Time(s as u64*1_000_000_000+u as u64*if ns{1}else{1000});
    let r=std::panic::catch_unwind(||locate(link,d)).ok().flatten();
    if let Some(l)=r { part.packet(&PacketInput{located:l,at:last,frame:FrameRef{source:0,frame:n},port:0,wire_len:w}); } }
  let mut out=outcome::finish(vec![part],last); out.totals.frames=n;
  println!("{}",serde_json::json!({"totals":out.totals,"streams":out.streams,"connections":out.connections,"findings":out.findings}));
}
