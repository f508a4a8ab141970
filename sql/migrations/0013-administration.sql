-- Administration: rotation of the secret key, disabled accounts, and the erasure of accounts.
-- Works with: 0010

-- A rotation encrypts the canary with the new key when everything else is.
grant update (sealed) on secret_canary to corkboard_system;

-- While it is set, the account's tokens, sessions and sign-ins are refused.
alter table users add column disabled_at timestamptz;

-- Audit entries are changed in one case only: the erasure of an account removes its name and its addresses.
grant update (display_name, ip) on audit_operations to corkboard_system;

-- Each process forgets which tokens are valid, and checks its sockets.
create trigger users_disabled after update on users for each row
  when (old.disabled_at is distinct from new.disabled_at)
  execute function notify_revocation();
create trigger users_ended after delete on users for each row execute function notify_revocation();
