//! Which UDP ports carry what.

/// UDP destination ports that carry RoCE v2 and VXLAN. [`Default`]: 4791 and 4789 (IANA).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ports {
    roce: Vec<u16>,
    vxlan: Vec<u16>,
}

impl Default for Ports {
    fn default() -> Self {
        Self {
            roce: vec![4791],
            vxlan: vec![4789],
        }
    }
}

impl Ports {
    /// RoCE v2 on this port too. A port that carries RoCE carries no VXLAN.
    #[must_use]
    pub fn with_roce(mut self, port: u16) -> Self {
        add(&mut self.roce, port);
        self
    }

    /// VXLAN on this port too, such as 8472, Linux's own default.
    #[must_use]
    pub fn with_vxlan(mut self, port: u16) -> Self {
        add(&mut self.vxlan, port);
        self
    }

    /// Whether UDP to `port` carries RoCE v2.
    #[inline]
    #[must_use]
    pub fn carry_roce(&self, port: u16) -> bool {
        port == 4791 || self.roce.len() > 1 && self.roce.contains(&port)
    }

    /// Ports of RoCE v2, the default one first.
    #[must_use]
    pub fn roce(&self) -> &[u16] {
        &self.roce
    }

    /// Ports of VXLAN, the default one first.
    #[must_use]
    pub fn vxlan(&self) -> &[u16] {
        &self.vxlan
    }
}

fn add(ports: &mut Vec<u16>, port: u16) {
    if !ports.contains(&port) {
        ports.push(port);
    }
}
