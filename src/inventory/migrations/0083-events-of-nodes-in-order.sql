-- What a client of a stream has missed of its own nodes and rollouts, in the order of the feed: read without the events of others.
create index events_of_node_in_order on events (node_uuid, tx, seq);
create index events_of_rollout_in_order on events (rollout_id, tx, seq) where rollout_id is not null;
