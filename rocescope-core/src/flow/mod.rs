//! Streams, connections, and what becomes of every PSN.

pub(crate) mod answer;
pub(crate) mod behind;
pub(crate) mod cm;
pub(crate) mod gap;
pub(crate) mod ip_id;
pub(crate) mod measured;
pub(crate) mod message;
pub(crate) mod nak;
pub(crate) mod pairing;
pub(crate) mod pass;
pub(crate) mod ranges;
pub(crate) mod read;
pub(crate) mod recent;
pub(crate) mod recovery;
pub(crate) mod requester;
pub(crate) mod responder;
pub(crate) mod stream;
pub(crate) mod table;
