//! `io-amc`: sporadic servers and PIBS whose budgets change with the mode, which jobs raise by themselves.

use super::one_cpu;
use crate::configuration::{BY_SERVER, Configuration, Servers};
use crate::options::{OptionKey, Options, Values};
use crate::policy::{About, Fields, Native, Policy, Use};
use crate::refusal::Refusal;
use crate::servers::{self, BottomHalves, ServerOrder, ServerRules, User};
use crate::setup::{Origin, Setup, order_name};
use crate::system::{System, Terms};
use vestal_analysis::parameters::{ServerBudget, ServerParameters};
use vestal_analysis::{Parameter, Parameters, Ratio};
use vestal_core::{ClassicOrder, Duration, Level, Modes, ServerConfiguration, ServerKind};

pub(super) struct IoAmc;

/// Which servers run the bottom halves of a PIBS.
const BOTTOM_HALVES: OptionKey = OptionKey {
    name: "bottom-halves",
    summary: "what runs the bottom halves of a PIBS: the PIBS, or a sporadic server in its place, of the period T of whom \
              it serves and with U T",
    values: Values::OneOf(&["pibs", "sporadic"]),
};

/// Whether a PIBS raises the mode.
const PIBS_RAISES: OptionKey = OptionKey {
    name: "pibs-raises",
    summary: "whether a PIBS above the mode that has used up its capacity and has work left raises it too",
    values: Values::OneOf(&["no", "yes"]),
};

/// The order of servers to which the file gives no priorities.
const PRIORITIES: OptionKey = OptionKey {
    name: "priorities",
    summary: "the order of servers without priorities in the file: that of Audsley where the rate-monotonic one does \
              not pass, or the rate-monotonic one",
    values: Values::OneOf(&["audsley", "rm"]),
};

static ABOUT: About = About {
    name: "io-amc",
    summary: "sporadic servers and PIBS by fixed priorities, budgets by mode, mode 0 when no critical job is pending",
    page: include_str!("../../../../docs/explain/io-amc.md"),
    parameters: &[Parameter::Priorities, Parameter::Servers],
    options: &[BOTTOM_HALVES, PIBS_RAISES, PRIORITIES],
    tests: &[
        "io-amc-rtb",
        "io-amc-rtb:any",
        "ss-pibs-rta",
        "ss-pibs-rta:any",
        "ss-rta",
        "io-amc-ub",
        "io-amc-ub:any",
        "amc-rtb:servers",
        "amc-ub:servers",
    ],
    native: Native::No(BY_SERVER),
};

impl Policy for IoAmc {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn fields(&self) -> Fields {
        Fields {
            degraded: Use::Rule(
                "is what a task's own server has above its level, if it is in none of the file; others have theirs",
            ),
            ..Fields::IN_SERVERS
        }
    }

    fn server_rules(&self, options: &Options) -> ServerRules {
        ServerRules {
            bottom_halves: match options.value(&BOTTOM_HALVES) {
                "sporadic" => BottomHalves::Sporadic,
                _ => BottomHalves::Pibs,
            },
            order: match options.value(&PRIORITIES) {
                "rm" => ServerOrder::RateMonotonic,
                _ => ServerOrder::Found,
            },
            ..ServerRules::ADAPTIVE
        }
    }

    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        let (priorities, inside) = servers::priorities(setup);
        let chosen = setup.choose(|all| all.servers.as_ref());
        let user = User {
            name: ABOUT.name,
            rules: &self.server_rules(setup.options),
            given: chosen.as_ref().map(|(servers, _)| servers.as_slice()),
        };
        let servers = Servers {
            modes: Modes::Adaptive {
                pibs_raise: setup.options.value(&PIBS_RAISES) == "yes",
            },
            ..servers::of_set(setup, user, &priorities)?
        };
        let given = setup.set.servers.iter().any(|one| one.priority.is_some());
        let by = match (&chosen, given) {
            (Some((_, by @ Origin::Parameters)), _) => format!("by priorities {by}"),
            (_, true) => "by priorities of the file".to_owned(),
            (Some((_, by)), false) if user.rules.order == ServerOrder::Found => {
                format!("by priorities {by}")
            }
            (_, false) => format!("in {}", order_name(ClassicOrder::RateMonotonic)),
        };
        let inside = match inside {
            Some(by) => format!("priorities {by}"),
            None => order_name(ClassicOrder::RateMonotonic).to_owned(),
        };
        let parameters = Parameters {
            priorities: Some(priorities),
            servers: Some(servers.servers.iter().map(parameters_of).collect()),
            ..Parameters::default()
        };
        Ok(one_cpu::system(
            setup,
            &ABOUT,
            (Configuration::Servers(servers), Terms::Servers),
            parameters,
            format!("servers {by}, inside {inside}"),
        ))
    }
}

/// What a server runs with.
fn parameters_of(server: &ServerConfiguration) -> ServerParameters {
    let levels = server.criticality.up_to_self();
    let budget = match &server.kind {
        ServerKind::Polling { period, capacity }
        | ServerKind::IdlingPeriodic { period, capacity }
        | ServerKind::Deferrable { period, capacity }
        | ServerKind::Sporadic {
            period, capacity, ..
        } => {
            let at = |level: Level| Duration::from_nanos(capacity.at(level).as_nanos());
            ServerBudget::Capacity {
                period: *period,
                by_level: levels.map(at).collect(),
            }
        }
        ServerKind::Pibs { utilization } => {
            let at = |level: Level| {
                let share = utilization.at(level);
                Ratio {
                    numerator: share.numerator(),
                    denominator: share.denominator(),
                }
            };
            ServerBudget::Utilization {
                by_level: levels.map(at).collect(),
            }
        }
    };
    ServerParameters {
        budget,
        priority: server.priority,
    }
}
