//! Figures of counted instructions: what is said of them follows from `docs/holenderski2010/counts.txt`. `scripts/bench-kernel.sh --keep`
//! counts anew; it calls this test with `VESTAL_BLESS=1`.

use crate::kept::{docs, expect, expect_files, expect_part};
use vestal_experiment::figure::counted;

pub(crate) const BEGIN: &str =
    "<!-- begin: counts, written by scripts/bench-kernel.sh --keep -->\n";

/// The page with the data where the documentation has them.
fn page(page: &str) -> String {
    page.replace("`counts.txt` is", "[counts.txt](../counts.txt) is")
}

#[test]
fn what_the_documentation_says_of_instructions_follows_from_what_was_counted() {
    let mut block = "\n| figure | the sentence | found |\n|---|---|---|\n".to_owned();
    for figure in counted::counted() {
        let command = format!("vestal reproduce {} -o DIR", figure.name);
        let drawn = figure.draw(&command, env!("CARGO_PKG_VERSION")).unwrap();
        let folder = docs().join(figure.name);
        if std::env::var_os("VESTAL_BLESS").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
        }
        expect(&folder.join("claims.md"), &page(&drawn.outcome.page));
        let mut names = vec!["claims.md".to_owned()];
        for (name, chart) in drawn.plots {
            expect(&folder.join(&name), &chart.to_svg());
            names.push(name);
        }
        expect_files(&folder, names);
        for (text, finding) in &drawn.outcome.findings {
            let name = figure.name;
            block += &format!("| [{name}]({name}/claims.md) | {text} | **{finding}** |\n");
        }
    }
    block.push('\n');
    expect_part(&docs().join("experiments.md"), BEGIN, &block);
}
