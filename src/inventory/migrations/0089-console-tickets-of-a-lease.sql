-- A ticket belongs to one lease. A project that leases a node a second time asks for a ticket of that lease.

alter table console_tickets add column lease_id uuid; -- the node's when the ticket was made
