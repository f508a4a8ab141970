-- The trace of a request goes with its events to the receivers of webhooks: `<trace id>-<flags>` (core/trace.ts).
-- Works with: 0010

-- A transaction of a request sets corkboard.trace; '' when the request has no trace, or after another transaction set it.
alter table events add column trace text default nullif(current_setting('corkboard.trace', true), '');
alter table webhook_payloads add column trace text default nullif(current_setting('corkboard.trace', true), '');
