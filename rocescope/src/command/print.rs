//! Commands that print what the program knows of itself.

use super::DONE;
use crate::cli::{self, Cli};
use crate::{output, report};
use anyhow::{Context, Result, anyhow};
use clap::CommandFactory;
use clap_complete::Shell;
use rocescope_core::finding;

fn print(text: &[u8]) -> Result<u8> {
    output::to_stdout(|out| out.write_all(text)).context("standard output")?;
    Ok(DONE)
}

pub(super) fn explain(options: &cli::Explain) -> Result<u8> {
    let text = match &options.id {
        None => report::explain_all(options.format),
        Some(id) => {
            let doc = finding::doc(id).ok_or_else(|| anyhow!(cli::unknown_finding(id)))?;
            report::explain(doc, options.format)
        }
    };
    print(text.as_bytes())
}

pub(super) fn completions(shell: Shell) -> Result<u8> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "rocescope", &mut text);
    print(&text)
}

/// One page: the program, then a section for each command.
pub(super) fn man() -> Result<u8> {
    let mut command = Cli::command();
    command.build();
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut text)?;
    for command in command
        .get_subcommands()
        .filter(|command| !command.is_hide_set() && command.get_name() != "help")
    {
        let page = clap_mangen::Man::new(command.clone());
        text.extend(format!(".SH ROCESCOPE {}\n", command.get_name().to_uppercase()).bytes());
        page.render_description_section(&mut text)?;
        page.render_options_section(&mut text)?;
        page.render_extra_section(&mut text)?;
    }
    print(&text)
}

pub(super) fn schema() -> Result<u8> {
    let mut text = Vec::new();
    report::json(&report::schema(), &mut text)?;
    print(&text)
}
