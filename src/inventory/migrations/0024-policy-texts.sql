-- The texts of policy files that were in force, so that the hash in an audit row or a run leads to what it decided by.
create table policy_texts (
  digest    text primary key,                             -- SHA-256 of set, mode, and the files' paths and texts
  rule_set  text not null,                                -- hash of the compiled rules, as audit rows and runs have it
  set_name  text not null,
  mode      text not null,
  files     jsonb not null,                               -- [{path, text, sha256, rules}], in the order in which they count
  first_at  timestamptz not null default now()
);
create index policy_texts_by_rule_set on policy_texts (rule_set text_pattern_ops);
create index policy_texts_first_at on policy_texts (first_at);
create trigger policy_texts_append_only before update or delete or truncate on policy_texts
  for each statement execute function refuse_change();
grant select, insert on policy_texts to temper_api;
