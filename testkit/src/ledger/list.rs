//! The list of all cases. There is one: tests, [`all`] and [`cases`] are made of it, so that a
//! case which is not in it is dead code and does not pass the lints.

use crate::ledger::store::{Case, Store};

/// Hand every case to another macro, a module at a time.
#[doc(hidden)]
#[macro_export]
macro_rules! __ledger_cases {
    ([$($callback:tt)+] $arguments:tt) => {
        $($callback)+! {
            $arguments
            checks {
                f10_a_fit_store_has_nothing_to_say
                e4_a_clock_that_is_off_is_told
                e4_a_clock_that_is_far_off_is_refused
                f3_events_that_nobody_serves_are_told
                f10_a_store_that_cannot_be_asked_is_told
            }
            claims {
                a_repeat_is_in_flight_and_then_a_duplicate
                c1_no_account_twice_is_one_event
                c4_equal_and_different_events_in_one_batch
                many_events_of_one_delivery
            }
            clock {
                e4_a_lease_from_a_clock_set_back_has_run_out
                e4_a_pause_from_a_clock_set_back_is_over
                e4_a_clock_set_back_takes_no_lease_away
                e4_a_renewal_ends_a_clocks_error
                e4_a_clock_set_back_makes_nothing_new
                e4_a_clock_set_back_keeps_the_order_of_a_key
            }
            fencing {
                a_stale_token_does_nothing
                an_expired_lease_does_nothing
                e6_a_token_never_returns
                completing_twice_is_completing
            }
            group {
                a_crowd_of_claims_is_stored_whole
                a_crowd_of_completions_is_recorded_whole
            }
            identifiers {
                c1_no_account_is_not_an_account
                ids_are_compared_byte_for_byte
                parts_of_a_key_do_not_run_together
                one_event_runs_at_every_endpoint
                tenants_do_not_share_ids
                every_length_up_to_the_bound_is_kept_whole
                every_script_is_kept_as_it_is
                normal_forms_are_different_texts
                look_alikes_are_different_texts
                nul_and_controls_are_no_obstacle
                accounts_and_endpoints_share_an_id_and_nothing_else
            }
            inline {
                a_granted_claim_commits_with_its_effect
                a_rollback_leaves_no_trace
                a_dropped_transaction_leaves_no_trace
                a3_an_escaped_claim_is_dead_until_an_operator_says_so
                a3_an_escaped_claim_revives_nothing
                a_concurrent_duplicate_waits_and_is_a_duplicate
                a_concurrent_duplicate_wins_after_a_rollback
                c6_waiting_is_bounded
                a_lost_inline_claim_is_judged
                an_event_in_the_inbox_is_not_run_inline
                ten_inline_claims_have_one_winner
                a1_an_abandoned_inline_claim_leaves_no_trace
            }
            judgement {
                known_id_same_content
                known_id_other_content
                known_id_same_content_other_type
                new_id_known_content
                new_id_known_content_other_type
                contents_equal_in_other_bytes
                contents_equal_after_the_payload_is_gone
                a_pruned_event_is_still_known
                d1_a_quarantined_delivery_does_not_occupy_the_id
                a_stored_reply_is_given_to_duplicates
                a_revived_event_whose_payload_was_dropped_gets_it_back
            }
            leases {
                what_was_stored_is_leased
                the_oldest_due_come_first
                f3_other_types_and_endpoints_are_left_alone
                concurrent_takers_share_nothing
                an_expired_lease_is_taken_over
                a_renewed_lease_holds
                a_lost_lease_is_not_renewed
                f2_crashes_are_counted_and_buried
                f2_abandoned_events_are_taken_few_at_a_time
                f2_no_two_suspects_run_at_once
                f2_a_hand_back_counts_nothing
                failures_are_counted_apart
                a_retry_waits_for_its_time
                a_dead_event_is_revived_once_per_quiet_time
                a_buried_event_is_revived_for_one_attempt
                f14_stored_errors_are_short
            }
            operators {
                d11_quarantine_is_read_page_by_page
                d11_a_release_runs_as_an_event_of_its_own
                d11_a_released_event_goes_by_a_key_of_its_own
                d11_a_release_takes_the_payload_from_the_first
                d11_a_payload_that_was_not_kept_is_not_made_up
                d11_two_operators_release_once
                d11_two_operators_decide_once
                d11_a_released_event_keeps_its_order
                d11_a_release_never_loses_its_payload_to_a_prune
                d11_dead_and_ignored_events_are_replayed
                d11_a_completed_event_is_replayed_only_if_told_again
                d11_two_operators_replay_once
                d11_nothing_is_replayed_without_its_payload
                d11_a_replayed_event_of_a_key_runs_beside_nobody
                f3_ignored_events_are_replayed_by_type
                stored_events_are_found
            }
            ordering {
                f8_one_of_a_key_runs_at_a_time
                f8_a_retry_of_the_head_blocks_its_key_alone
                f8_an_abandoned_head_blocks_its_key_until_it_is_taken
                f8_a_dead_head_blocks_nobody
                f8_a_buried_head_blocks_nobody
                f8_a_revived_head_runs_beside_nobody
                f8_a_batch_keeps_its_order
                f8_concurrent_claims_run_as_committed
                f8_concurrent_takers_run_one_of_a_key
                f8_an_order_is_an_endpoints_own
                f3_an_ignored_event_is_stored_and_never_due
                f3_an_ignored_event_is_revived_by_who_takes_its_type
                a12_contention_is_counted_apart
            }
            prepared {
                f13_replicas_start_at_once
                preparing_again_changes_nothing
                e3_a_key_whose_events_are_forgotten_is_refused
                waiting_events_of_other_endpoints_are_noticed
                shared_keys_are_noticed
            }
            quarantined {
                d3_a_replay_is_one_row_without_its_payload
                d3_each_content_is_kept_once
                d3_an_endpoint_may_keep_evidence_alone
                d3_an_endpoint_bounds_its_payloads
                a_label_that_does_not_fit_spends_no_key
            }
            races {
                two_concurrent_claims_have_one_winner
                fifty_claims_on_two_ledgers_have_one_winner
                c3_overlapping_batches_do_not_deadlock
                a1_aborted_begins_hide_no_claim
                a1_an_abandoned_claim_is_whole_or_absent
                a1_the_last_handle_may_be_dropped_anywhere
                an_expired_lease_has_one_heir
                a_completion_and_a_takeover_exclude_each_other
                no_claim_beside_a_completion_wins
            }
            retention {
                e1_an_identity_outlives_its_payload
                e1_an_identity_may_go_before_its_payload
                e1_replicas_forget_at_once
                e1_a_claim_beside_a_prune_is_a_duplicate_or_new
                e3_claims_beside_a_burial_are_duplicates
                e2_who_is_seen_again_is_remembered
                e2_only_completed_events_are_forgotten
                e3_a_tombstone_still_knows
                e3_a_tombstone_still_knows_what_was_signed
                e3_tombstones_go_with_their_key
                e3_a_key_that_lives_anywhere_keeps_its_tombstones
                e3_live_keys_are_entered
                d11_a_decision_is_forgotten_with_its_identity
                d11_nothing_undecided_is_forgotten
                d11_a_decision_without_a_timestamp_goes_with_its_key
                f15_payloads_of_settled_events_end
                f15_for_ever_is_for_identities
                f15_a_batch_is_a_bound
                f8_an_idle_key_keeps_its_order
            }
            transactions {
                effect_and_completion_commit_together
                a_rolled_back_attempt_leaves_the_lease
                a3_a_raw_commit_is_an_escape
                a3_a_raw_rollback_is_an_escape
                a3_a_replaced_transaction_is_an_escape
                a3_a_failed_handler_that_committed_has_escaped
                a3_a_failed_handler_that_did_not_is_undone
                a_lost_lease_commits_nothing
                a_lost_lease_opens_no_transaction
                a_dropped_transaction_releases_its_locks
                a_connection_whose_handler_failed_is_clean
                a5_a_running_statement_is_ended_by_a_rollback
                a5_a_running_statement_is_ended_by_a_drop
                two_workers_cannot_both_commit
            }
        }
    };
}

/// Run every case on a store: one test a case, in a module for each theme.
///
/// The argument is a type that implements [`ledger::Store`](crate::ledger::Store). A module around it
/// tells two stores apart:
///
/// ```
/// # mod store {
/// #     use std::error::Error;
/// #     use webhook_sqlx::SqliteLedger;
/// #     use webhook_testkit::ledger::{Act, Conn, Store};
/// #     pub struct Acme;
/// #     impl Store for Acme {
/// #         type Ledger = SqliteLedger;
/// #         async fn create() -> Self { Self }
/// #         async fn destroy(&self) {}
/// #         async fn open(&self) -> SqliteLedger { SqliteLedger::open("app.db").await.unwrap() }
/// #         async fn shift(&self, _: i64) {}
/// #         async fn keys(&self) -> u64 { 0 }
/// #         async fn effects(&self) -> u64 { 0 }
/// #         async fn act(_: &mut Conn<Self>, _: Act) -> Result<(), Box<dyn Error + Send + Sync>> { Ok(()) }
/// #     }
/// # }
/// mod acme {
///     webhook_testkit::ledger_conformance!(crate::store::Acme);
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! ledger_conformance {
    ($store:ty) => {
        $crate::__ledger_cases! { [$crate::__ledger_tests] ($store) }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __ledger_tests {
    (($store:ty) $($module:ident { $($case:ident)* })*) => {
        $(mod $module {
            #[allow(unused_imports, reason = "the store may be named by its path")]
            use super::*;
            $(
                #[test]
                fn $case() {
                    $crate::ledger::run::<$store, _>($crate::ledger::cases::$module::$case);
                }
            )*
        })*
    };
}

macro_rules! export {
    (() $($module:ident { $($case:ident)* })*) => {
        #[expect(missing_docs, reason = "a theme's name says what it is")]
        /// Every case, by its theme. Each takes an empty store and panics if it breaks the rule that the
        /// case is named for.
        pub mod cases {
            $(pub mod $module {
                pub use crate::ledger::$module::{$($case),*};
            })*
        }

        /// Every case, as a value.
        pub fn all<S: Store>() -> Vec<Case<S>> {
            vec![$($(Case::new(
                concat!(stringify!($module), "::", stringify!($case)),
                |store| Box::pin(crate::ledger::$module::$case(store)),
            ),)*)*]
        }
    };
}

__ledger_cases! { [export] () }
