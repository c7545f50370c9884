mod integrity;
mod loss;
mod refusals;
mod wire;

use super::*;
use std::collections::BTreeSet;

#[test]
fn every_doc_says_everything() {
    let mut ids = BTreeSet::new();
    for doc in REGISTRY {
        assert!(ids.insert(doc.id), "{} stands twice", doc.id);
        assert!(
            doc.id
                .bytes()
                .all(|octet| octet == b'-' || octet.is_ascii_lowercase()),
            "{}",
            doc.id
        );
        for (part, text) in [
            ("meaning", doc.meaning),
            ("rule", doc.rule),
            ("source", doc.source),
            ("when_wrong", doc.when_wrong),
        ] {
            assert!(
                text.len() > 20 && text.ends_with('.'),
                "{}: {part} is not a sentence",
                doc.id
            );
            assert!(
                !text.contains("  ") && !text.contains('\n'),
                "{}: {part} has loose blanks",
                doc.id
            );
        }
        assert!(
            !doc.causes.is_empty() && !doc.what_to_do.is_empty(),
            "{}: no causes or no advice",
            doc.id
        );
        for threshold in doc.thresholds {
            let range = threshold.min..=threshold.max;
            assert!(
                range.contains(&threshold.default),
                "{}.{}: default out of range",
                doc.id,
                threshold.key
            );
        }
    }
}

#[test]
fn the_summary_is_the_first_sentence() {
    assert!(!psn_gap::DOC.summary().contains(". "));
    assert!(psn_gap::DOC.meaning.starts_with(psn_gap::DOC.summary()));
    assert_eq!(doc("psn-gap").map(|doc| doc.id), Some("psn-gap"));
    assert!(doc("no-such").is_none());
}
