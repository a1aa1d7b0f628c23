//! Servers on several CPUs, of a policy that only these tests have: what a result says of them.

use super::run;
use crate::args::{Format, WorldArgs};
use crate::output::Output;
use crate::session::Session;
use std::path::PathBuf;
use vestal_core::{
    ByLevel, CpuId, Duration, Level, LocalOrder, Modes, ServedTask, ServerConfiguration, ServerId,
    ServerKind, Service, TaskId, WhenFull,
};
use vestal_policy::{
    About, Cluster, Configuration, Fields, Guarantee, Native, Policy, Proof, Refusal, Registry,
    Servers, Setup, System, Terms, Use,
};
use vestal_trace::Dispatch;

static ABOUT: About = About {
    name: "apart",
    summary: "a CPU and a server for each task",
    page: "",
    parameters: &[],
    options: &[],
    tests: &[],
    native: Native::No("it has servers"),
};

struct Apart;

/// What task so-and-so has on its CPU: a sporadic server of 4 in 16, but the last one a deferrable one.
fn cluster(setup: &Setup<'_>, number: u16) -> Cluster {
    let last = usize::from(number) + 1 == setup.tasks.len();
    let (period, capacity) = (Duration::from_nanos(16), Service::from_nanos(4));
    let capacity = ByLevel::constant(capacity);
    let task = setup.tasks[usize::from(number)];
    let server = ServerConfiguration {
        kind: match last {
            true => ServerKind::Deferrable { period, capacity },
            false => ServerKind::Sporadic {
                period,
                capacity,
                replenishments: 8,
                full: WhenFull::MergeHead,
            },
        },
        priority: 1,
        criticality: Level::LOWEST,
        order: LocalOrder::FixedPriority,
    };
    let configuration = Configuration::Servers(Servers {
        tasks: vec![setup.with_priorities(&[])[usize::from(number)]],
        names: vec![format!("of-{}", setup.set.tasks[usize::from(number)].name)],
        servers: vec![server],
        served: vec![ServedTask {
            task,
            server: ServerId(0),
            priority: 1,
            on_behalf_of: None,
        }],
        devices: Vec::new(),
        levels: setup.levels,
        modes: Modes::Requested,
    });
    let guarantee = Guarantee::new(Terms::Nothing, Proof::NoTest);
    Cluster {
        cpus: vec![CpuId(number)],
        tasks: vec![TaskId(number)],
        ..Cluster::whole(configuration, 1, guarantee)
    }
}

impl Policy for Apart {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn fields(&self) -> Fields {
        Fields {
            cpus: Use::Reads,
            ..Fields::ONE_CPU
        }
    }

    fn build(&self, setup: &Setup<'_>) -> Result<System, Refusal> {
        let cpus = setup.set.platform.cpus;
        Ok(System {
            policy: ABOUT.name.to_owned(),
            options: setup.options.clone(),
            parameters: vestal_analysis::Parameters::default(),
            cpus,
            clusters: (0..cpus).map(|number| cluster(setup, number)).collect(),
            origin: "a server each".to_owned(),
        })
    }
}

/// By hand, until 12. a, one unit every 4: at 1 [1: 3, 16: 1], at 5 and 9 one part more each, [9: 1, 16: 1, 20: 1, 24: 1]: 4. b, one
/// every 8: at 9 [9: 2, 16: 1, 24: 1]: 3. c is in a deferrable server, which has no list. What they served: 3, 2 and 3.
#[test]
fn each_cpu_says_how_long_the_lists_of_its_servers_became() {
    let text = "format = \"vestal/1\"\nlevels = [\"LO\"]\nunit = \"ns\"\n[platform]\ncpus = 3\n\
                [[task]]\nname = \"a\"\ncriticality = \"LO\"\nperiod = 4\nwcet = { LO = 1 }\n\
                [[task]]\nname = \"b\"\ncriticality = \"LO\"\nperiod = 8\nwcet = { LO = 1 }\n\
                [[task]]\nname = \"c\"\ncriticality = \"LO\"\nperiod = 4\nwcet = { LO = 1 }\n";
    let folder = std::env::temp_dir().join(format!("vestal-apart-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("set.toml");
    std::fs::write(&file, text).unwrap();
    let args = WorldArgs {
        file,
        policy: ABOUT.name.to_owned(),
        duration: Some("12ns".to_owned()),
        scenario: Some("lo".to_owned()),
        seed: 1,
        options: Vec::new(),
        parameters: None,
    };
    let output = Output::new(Format::Json);
    let registry = Registry::default().with_policy(Apart).unwrap();
    let session = Session::open(&registry, &args, "simulate", &output).unwrap();
    let traces: [&[PathBuf]; 2] = [&[], &[folder.join("run.csv")]];
    for traces in traces {
        let (found, unwritten) = run(&session, Dispatch::Managed, traces, &output).unwrap();
        assert!(unwritten.is_none(), "{unwritten:?}");
        let rows = found.run.servers.iter();
        let rows = rows.map(|row| (row.name.as_str(), row.served_ns, row.longest_list));
        let expected = [
            ("of-a", 3, Some(4)),
            ("of-b", 2, Some(3)),
            ("of-c", 3, None),
        ];
        assert_eq!(rows.collect::<Vec<_>>(), expected);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
