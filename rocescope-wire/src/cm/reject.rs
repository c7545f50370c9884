//! Why a connection was rejected.

/// Reason of a REJ (IBTA volume 1, 12.6.7.2; `ib_cm_rej_reason` of `ib_cm.h`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RejReason(pub u16);

impl RejReason {
    /// The other side waited too long for an answer.
    pub const TIMEOUT: Self = Self(4);
    /// Nobody listens: connection refused.
    pub const INVALID_SERVICE_ID: Self = Self(8);
    /// The QP or communication id is still that of an older connection.
    pub const STALE_CONNECTION: Self = Self(10);
    /// The application said no; why is in its private data.
    pub const CONSUMER: Self = Self(28);

    /// In plain words; `None` for a reason the standard does not name.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            1 => "no QP available",
            2 => "no EEC available",
            3 => "no resources available",
            4 => "timeout",
            5 => "unsupported request",
            6 => "invalid communication ID",
            7 => "invalid communication instance",
            8 => "invalid service ID",
            9 => "invalid transport service type",
            10 => "stale connection",
            11 => "RDC does not exist",
            12 => "primary remote port GID rejected",
            13 => "primary remote port LID rejected",
            14 => "invalid primary SL",
            15 => "invalid primary traffic class",
            16 => "invalid primary hop limit",
            17 => "invalid primary packet rate",
            18 => "alternate remote port GID rejected",
            19 => "alternate remote port LID rejected",
            20 => "invalid alternate SL",
            21 => "invalid alternate traffic class",
            22 => "invalid alternate hop limit",
            23 => "invalid alternate packet rate",
            24 => "CM port redirection",
            25 => "port redirection",
            26 => "invalid path MTU",
            27 => "insufficient responder resources",
            28 => "consumer reject",
            29 => "RNR retry count rejected",
            30 => "duplicate local communication ID",
            31 => "unsupported class version",
            32 => "invalid primary flow label",
            33 => "invalid alternate flow label",
            35 => "vendor option not supported",
            _ => return None,
        })
    }
}
