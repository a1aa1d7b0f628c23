//! Policies and tests by their names.

use crate::options::{BACKLOG, OptionKey, Options, Values};
use crate::policies;
use crate::policy::Policy;
use crate::refusal::Refusal;
use std::sync::Arc;
use vestal_analysis::Test;

/// Policies and tests: the built-in ones, and then a program's own.
///
/// A value: a program, a test and a notebook may each have one.
#[derive(Clone, Debug)]
pub struct Registry {
    policies: Vec<Arc<dyn Policy>>,
    /// How many of them are not the program's own.
    built_in: usize,
    tests: Vec<Test>,
    /// The text for `explain` of each own test.
    pages: Vec<(&'static str, &'static str)>,
}

impl Default for Registry {
    fn default() -> Self {
        let policies = policies::all();
        Self {
            built_in: policies.len(),
            policies,
            tests: vestal_analysis::tests().to_vec(),
            pages: Vec::new(),
        }
    }
}

impl Registry {
    /// The same with a test of the program's own; `page` is its text for `explain`, in Markdown.
    ///
    /// # Errors
    /// A name that is none, or is taken.
    pub fn with_test(mut self, test: Test, page: &'static str) -> Result<Self, Refusal> {
        self.check_name(test.name)?;
        self.pages.push((test.name, page));
        self.tests.push(test);
        Ok(self)
    }

    /// The same with a policy of the program's own; its tests are there already.
    ///
    /// # Errors
    /// A name that is none, or is taken; an option that every policy has; a test that does not exist.
    pub fn with_policy(mut self, policy: impl Policy + 'static) -> Result<Self, Refusal> {
        let about = policy.about();
        self.check_name(about.name)?;
        let (name, taken) = (about.name, BACKLOG.name);
        if about.options.iter().any(|option| option.name == taken) {
            let why = format!("the option `{taken}` of the policy `{name}` is taken");
            let help = "every policy has it: it is the business of worlds";
            return Err(Refusal::input(why).with_help(help));
        }
        if let Some(unknown) = about.tests.iter().find(|test| self.test(test).is_none()) {
            let why = format!("the policy `{name}` names `{unknown}`, which is no test");
            let help = "name a test that exists, and give own ones first";
            return Err(Refusal::input(why).with_help(help));
        }
        self.policies.push(Arc::new(policy));
        Ok(self)
    }

    fn check_name(&self, name: &str) -> Result<(), Refusal> {
        let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || !name.chars().all(letter) {
            let help = "a name is of lower-case letters, digits and hyphens";
            return Err(Refusal::input(format!("`{name}` is no name")).with_help(help));
        }
        let known = self.policy(name).is_some() || self.tests.iter().any(|test| test.name == name);
        if known {
            let help = "choose a name that no built-in or other own policy or test has";
            return Err(Refusal::input(format!("the name `{name}` is taken")).with_help(help));
        }
        Ok(())
    }

    /// Every policy, built-in ones first.
    pub fn policies(&self) -> impl Iterator<Item = &dyn Policy> + Clone {
        self.policies.iter().map(|policy| &**policy)
    }

    /// The policy of this name.
    #[must_use]
    pub fn policy(&self, name: &str) -> Option<&dyn Policy> {
        self.policies().find(|policy| policy.about().name == name)
    }

    /// Every test, built-in ones first.
    #[must_use]
    pub fn tests(&self) -> &[Test] {
        &self.tests
    }

    /// The test written as `name` or `name:variant`.
    #[must_use]
    pub fn test(&self, text: &str) -> Option<&Test> {
        self.tests.iter().find(|test| test.is_called(text))
    }

    /// The policies that a test is about.
    pub fn policies_of<'a>(&'a self, test: &'a Test) -> impl Iterator<Item = &'a dyn Policy> {
        self.policies().filter(|policy| {
            let mut names = policy.about().tests.iter();
            names.any(|name| test.is_called(name))
        })
    }

    /// The options under which a policy has its guarantee from this test: one option at a time is tried; none if
    /// none of them leads to it.
    #[must_use]
    pub fn options_of(&self, policy: &dyn Policy, test: &Test) -> Options {
        let is_its = |options: &Options| {
            let named = policy.test(options).ok().flatten();
            named.is_some_and(|name| test.is_called(name))
        };
        let values = policy.about().options.iter().flat_map(|option| {
            let values: &[&str] = match option.values {
                Values::OneOf(values) => values,
                Values::UpTo(_) | Values::Free => &[],
            };
            values.iter().map(|value| (option.name, *value))
        });
        let mut choices = values.filter_map(|(name, value)| {
            self.options(policy, &[(name.to_owned(), value.to_owned())])
                .ok()
        });
        let default = Options::default();
        if is_its(&default) {
            return default;
        }
        choices.find(is_its).unwrap_or(default)
    }

    /// The text for `explain` of a policy or of an own test; the name and the summary where there is none.
    #[must_use]
    pub fn page(&self, name: &str) -> Option<String> {
        let page = |summary: &str, page: &str| match page {
            "" => format!("# {name}: {summary}\n"),
            page => page.to_owned(),
        };
        if let Some(policy) = self.policy(name) {
            return Some(page(policy.about().summary, policy.about().page));
        }
        let (_, text) = self.pages.iter().find(|(known, _)| *known == name)?;
        Some(page(self.test(name)?.summary, text))
    }

    /// Whether a test or a policy of this name is the program's own.
    #[must_use]
    pub fn is_own(&self, name: &str) -> bool {
        let mut policies = self.policies.iter().skip(self.built_in);
        let mut tests = self.pages.iter();
        tests.any(|(known, _)| *known == name) || policies.any(|policy| policy.about().name == name)
    }

    /// The options of a policy, and those that every policy has, checked.
    ///
    /// # Errors
    /// As [`Options::read`], and options that exclude one another.
    pub fn options(
        &self,
        policy: &dyn Policy,
        given: &[(String, String)],
    ) -> Result<Options, Refusal> {
        let known = policy.about().options.iter().copied();
        let known: Vec<OptionKey> = known.chain([BACKLOG]).collect();
        let options = Options::read(given, &known)?;
        policy.test(&options)?;
        Ok(options)
    }
}
