//! The test application as a process of its own: started, watched and killed.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use webhook_actix::{Clock as _, SystemClock};
use webhook_timestamped::Timestamped;

use crate::app::{eventually, signed};
use crate::wire::{Answer, post, try_post};

/// A process that dies with the test.
#[derive(Debug)]
pub struct Victim {
    /// Where it listens.
    pub address: SocketAddr,
    child: Child,
    /// Held open: at its end the process ends.
    input: ChildStdin,
    said: Said,
    logged: Said,
}

/// What a process wrote so far.
type Said = Arc<Mutex<String>>;

impl Victim {
    /// Start `program` on the database at `url`.
    ///
    /// # Panics
    ///
    /// If it does not come up.
    pub fn start(program: &str, url: &str, arguments: &[&str]) -> Self {
        Self::try_start(program, url, arguments)
            .unwrap_or_else(|logged| panic!("the victim does not come up:\n{logged}"))
    }

    /// Start `program` on the database at `url`.
    ///
    /// # Errors
    ///
    /// What it logged, if it ended before it listened.
    ///
    /// # Panics
    ///
    /// If it cannot be run, or does neither.
    pub fn try_start(program: &str, url: &str, arguments: &[&str]) -> Result<Self, String> {
        let mut child = Command::new(program)
            .arg(url)
            .args(arguments)
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the victim can be run");
        let said = listen(child.stdout.take().expect("piped"));
        let logged = listen(child.stderr.take().expect("piped"));
        let input = child.stdin.take().expect("piped");
        let mut ended = None;
        let mut address = None;
        eventually("the victim listens, or ends", || {
            let said = text(&said);
            address = said.lines().find_map(|line| line.parse().ok());
            ended = child.try_wait().expect("it is ours");
            address.is_some() || ended.is_some()
        });
        match address {
            Some(address) => Ok(Self {
                address,
                child,
                input,
                said,
                logged,
            }),
            None => Err(text(&logged)),
        }
    }

    /// Deliver an event signed now.
    pub fn post(&self, id: &str, event_type: &str) -> Answer {
        let (headers, body) = fresh(id, event_type);
        post(self.address, "/custom", &headers, &body)
    }

    /// Deliver an event signed now; `None` if nothing was answered.
    pub fn try_post(&self, id: &str, event_type: &str) -> Option<Answer> {
        let (headers, body) = fresh(id, event_type);
        try_post(self.address, "/custom", &headers, &body)
    }

    /// Deliver as a provider does: again until it is answered 200.
    pub fn deliver(&self, id: &str, event_type: &str) {
        eventually("it is acknowledged", || {
            let answer = self.try_post(id, event_type);
            answer.is_some_and(|answer| answer.status == 200)
        });
    }

    /// Give it an order.
    ///
    /// # Panics
    ///
    /// If it is gone.
    pub fn tell(&mut self, order: &str) {
        writeln!(self.input, "{order}").expect("it listens to us");
    }

    /// What it wrote to its standard output so far.
    pub fn said(&self) -> String {
        text(&self.said)
    }

    /// What it logged so far.
    pub fn logged(&self) -> String {
        text(&self.logged)
    }

    /// Whether it still runs.
    ///
    /// # Panics
    ///
    /// If the system does not know.
    pub fn is_alive(&mut self) -> bool {
        self.child.try_wait().expect("it is ours").is_none()
    }

    /// How it ended by itself.
    ///
    /// # Panics
    ///
    /// If it does not, in 30 s.
    pub fn end(mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("it is ours") {
                return status;
            }
            assert!(began.elapsed() < Duration::from_secs(30), "it lives on");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Send this signal.
    ///
    /// # Panics
    ///
    /// If it cannot be sent.
    pub fn signal(&self, name: &str) {
        // The shell's own, as not every system has the program.
        let line = format!("kill -{name} {}", self.child.id());
        let sent = Command::new("sh").arg("-c").arg(line).status();
        assert!(sent.is_ok_and(|sent| sent.success()), "SIG{name}");
    }

    /// SIGKILL: nothing is flushed, closed or said.
    ///
    /// # Panics
    ///
    /// If it cannot be killed.
    pub fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it is ours");
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request to `/custom`, signed now, with a word that must not be seen again.
pub fn fresh(id: &str, event_type: &str) -> (Vec<(String, String)>, Vec<u8>) {
    let body = serde_json::json!({"id": id, "type": event_type, "memo": "canary-payload"});
    let body = body.to_string().into_bytes();
    let now = SystemClock::default().unix_secs();
    (signed("custom", &Timestamped, &body, now), body)
}

fn listen(from: impl Read + Send + 'static) -> Said {
    let said = Said::default();
    let heard = said.clone();
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            let mut heard = heard.lock().expect("nobody panics in here");
            heard.push_str(&line);
            heard.push('\n');
        }
    });
    said
}

fn text(said: &Said) -> String {
    said.lock().expect("nobody panics in here").clone()
}
