-- Since when the ramdisk on a node has answered no request; null while it answers. With its heartbeats it tells how long it has been silent.

alter table agents add column silent_since timestamptz;
