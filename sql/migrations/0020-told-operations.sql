-- It says whether it has written something; functions/operations.sql makes it anew.
drop function if exists record_operation(json, json);
