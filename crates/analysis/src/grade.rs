//! The levels of MC².

/// A level of MC² (Herman et al., RTAS 2012, section 2), lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// Best effort.
    D,
    /// Global earliest deadlines.
    C,
    /// On one CPU, by deadlines or rates.
    B,
    /// In a table.
    A,
}

impl Grade {
    /// All, lowest first.
    pub const ALL: [Self; 4] = [Self::D, Self::C, Self::B, Self::A];

    /// The letter of the paper.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::D => "D",
            Self::C => "C",
            Self::B => "B",
            Self::A => "A",
        }
    }

    fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|grade| grade.name() == name)
    }

    /// What levels with these names are, lowest first: by their names if some of them have names of MC², else counted from
    /// the highest, which is A. `None`: names of MC² beside others or in another order, or more than four levels.
    #[must_use]
    pub fn of_levels(names: &[String]) -> Option<Vec<Self>> {
        let named: Vec<Option<Self>> = names.iter().map(|name| Self::of_name(name)).collect();
        if named.iter().any(Option::is_some) {
            let grades: Vec<Self> = named.into_iter().collect::<Option<_>>()?;
            return is_rising(&grades).then_some(grades);
        }
        let first = Self::ALL.len().checked_sub(names.len())?;
        Self::ALL.get(first..).map(<[Self]>::to_vec)
    }
}

/// Whether each is above the one before it.
pub(crate) fn is_rising(grades: &[Grade]) -> bool {
    grades.windows(2).all(|pair| pair[0] < pair[1])
}
