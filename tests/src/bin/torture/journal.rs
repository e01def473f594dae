//! What was done when.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A file that all threads write to.
#[derive(Debug, Clone)]
pub(crate) struct Journal(Arc<(Instant, Mutex<File>)>);

impl Journal {
    pub(crate) fn create(folder: &Path) -> Self {
        let file = File::create(folder.join("journal.log")).unwrap();
        Self(Arc::new((Instant::now(), Mutex::new(file))))
    }

    pub(crate) fn note(&self, what: &str) {
        let (began, file) = &*self.0;
        let line = format!("{:9.3} {what}\n", began.elapsed().as_secs_f64());
        file.lock().unwrap().write_all(line.as_bytes()).unwrap();
    }
}
