/** Names of images of Glance, and whether an image is still the one that was accepted. */
import { fetchedByInstance } from '../../src/model/access/origins';
import { changeFault, type GlanceImage, glanceSource, judgedImage } from '../../src/model/boot/glance-images';
import { digestKey } from '../../src/model/boot/images';

const id = '9b4bb7f9-8ee3-4170-b542-cf95e0dc48c8';
const image: GlanceImage = {
  id,
  status: 'active',
  visibility: 'public',
  owner: 'p',
  size: 7,
  os_hash_algo: 'sha512',
  os_hash_value: 'A'.repeat(128),
  disk_format: 'raw',
  container_format: 'bare',
  img_type: null,
  kernel_id: null,
  ramdisk_id: null,
};

test.each([
  [id, { id }],
  [id.toUpperCase(), { id }],
  [`glance://${id}`, { id }],
  [`glance://evil.example.org/v2/images/${id}`, { id }],
  ['glance://', { id: undefined }],
  ['glance://debian-12', { id: undefined }],
  [`https://images.example.org/${id}`, undefined],
  ['image:debian-12', undefined],
  [`${id}/../other`, undefined],
  ['', undefined],
  [null, undefined],
  [{ $secret: id }, undefined],
])('%j is a source of Glance: %j', (value, source) => {
  expect(glanceSource(value)).toEqual(source);
});

test('no URL is fetched for a source of Glance', () => {
  expect(fetchedByInstance({ image_source: id })).toEqual([]);
  expect(fetchedByInstance({ image_source: `glance://evil.example.org/${id}` })).toEqual([]);
  expect(fetchedByInstance({ image_source: 'https://a.example.org/x' })).toHaveLength(1);
});

test.each([
  [{ img_type: 'partition' }, 'partition'],
  [{ img_type: 'whole-disk', kernel_id: 'k' }, 'whole-disk'],
  [{ kernel_id: 'k' }, 'partition'],
  [{ ramdisk_id: 'r' }, 'partition'],
  [{ kernel_id: '', ramdisk_id: '' }, 'whole-disk'],
  [{ img_type: 'of another world' }, 'whole-disk'],
])('with %j an image is one of type %s', (over, image_type) => {
  expect(judgedImage({ ...image, ...over })).toMatchObject({ image: { image_type } });
});

test('an image is the accepted one by hash and size alone', () => {
  const accepted = { os_hash_algo: 'sha512', os_hash_value: 'a'.repeat(128), size: 7 } as const;
  expect(changeFault(accepted, { ...image, owner: 'another', visibility: 'private' })).toBeUndefined();
  for (const over of [{ size: 8 }, { os_hash_value: 'b'.repeat(128) }])
    expect(changeFault(accepted, { ...image, ...over })).toMatch(/^has other bytes now/);
  const sha256 = { os_hash_algo: 'sha256', os_hash_value: 'a'.repeat(64) };
  expect(changeFault(accepted, { ...image, ...sha256 })).toMatch(/^has other bytes now/);
  expect(changeFault(accepted, { ...image, status: 'pending_delete' })).toMatch(/^is pending_delete/);
});

test('files of images are named by algorithm and digest, and by the digest alone for SHA-256', () => {
  expect(digestKey({ algorithm: 'sha256', digest: 'a' })).toBe('a');
  expect(digestKey({ algorithm: 'sha512', digest: 'a' })).toBe('sha512-a');
});
