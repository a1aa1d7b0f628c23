//! How tests run the program.

#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod shape;
#[cfg(unix)]
pub(crate) mod stops;
pub(crate) mod traces;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The program under test.
pub(crate) const VESTAL: &str = env!("CARGO_BIN_EXE_vestal");

/// The root of the repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// A fresh directory of this test, removed when dropped.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("vestal-test-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The program in the repository's root, with these arguments.
pub(crate) fn command(arguments: &[&str]) -> Command {
    program(&[&[VESTAL], arguments].concat())
}

fn program(words: &[&str]) -> Command {
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .current_dir(repository())
        .env_remove("COLUMNS")
        .stdin(Stdio::null());
    command
}

/// The same for a program that is to be sent SIGINT: a shell that started the tests in the background has
/// them ignore it, and a program that they start would ignore it, too.
pub(crate) fn interruptible(arguments: &[&str]) -> Command {
    program(&[&["env", "--default-signal=INT,TERM", VESTAL], arguments].concat())
}

/// What the program does that may use one CPU.
pub(crate) fn on_one_cpu(arguments: &[&str]) -> Done {
    let done = program(&[&["taskset", "-c", "0", VESTAL], arguments].concat()).output();
    done.unwrap().into()
}

/// What the program did.
pub(crate) struct Done {
    pub(crate) exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        Self {
            exit: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Done {
    /// The one JSON document on standard output.
    pub(crate) fn json(&self) -> serde_json::Value {
        shape::document(&self.stdout, &self.stderr)
    }
}

/// Runs the program.
pub(crate) fn vestal(arguments: &[&str]) -> Done {
    command(arguments).output().unwrap().into()
}

/// Runs the program with something on standard input.
pub(crate) fn vestal_with_input(arguments: &[&str], input: &[u8]) -> Done {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The program may end before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap().into()
}

/// What a shell prints for a command line, standard output and standard error in their order.
pub(crate) fn shell(line: &str) -> String {
    let folder = Path::new(VESTAL).parent().unwrap().to_owned();
    let mut path = folder.into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut child = Command::new("sh")
        .args(["-c", line])
        .current_dir(repository())
        .env("PATH", path)
        .env_remove("COLUMNS")
        .stdin(Stdio::null())
        .stdout(writer.try_clone().unwrap())
        .stderr(writer)
        .spawn()
        .unwrap();
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    child.wait().unwrap();
    text
}
