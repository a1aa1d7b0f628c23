//! The page about experiments lists every recipe and parameter as the code has them.

use vestal_workload::generate::Recipe;

#[test]
fn the_page_lists_every_recipe_with_its_parameters() {
    let page = include_str!("../../../../docs/experiments.md");
    let (_, mut rest) = page.split_once("\n## Recipes\n").unwrap();
    for name in Recipe::NAMES {
        let recipe = Recipe::named(name).unwrap();
        let mut section = format!("### {name}\n\n{}.\n\n", recipe.summary());
        section.push_str("| parameter | default | meaning |\n|---|---|---|\n");
        for parameter in recipe.parameters() {
            let (name, default) = (parameter.name, parameter.default);
            section.push_str(&format!(
                "| `{name}` | `{default}` | {} |\n",
                parameter.meaning
            ));
        }
        let at = rest.find(&section);
        assert!(
            at.is_some(),
            "docs/experiments.md lacks or misplaces:\n{section}"
        );
        rest = &rest[at.unwrap() + section.len()..];
    }
    assert_eq!(rest.trim(), "", "the page goes on after the last recipe");
}
