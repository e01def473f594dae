//! Gates, claims, inline dispatch and workers, for any HTTP adapter and any ledger.
