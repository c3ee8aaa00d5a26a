-- Images of Glance that runs write. A URL of one is its record: the image as the run froze it, for as long as the run has its node.

alter table image_capabilities
  alter column image_uuid drop not null,
  add column glance_id  uuid,
  add column hash_algo  text,
  add column hash_value text,                            -- hexadecimal; with the algorithm the name of the file in the boot service's folder
  add column bytes      bigint,
  add constraint image_capabilities_of_one check
    ((image_uuid is null) = (glance_id is not null and hash_algo is not null and hash_value is not null and bytes is not null));
