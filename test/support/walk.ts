/** Requests for walks over all routes of the API's description. */

/** Names nothing. */
export const missing = '11111111-2222-4333-8444-555555555555';

const reason = { reason: 'x' };

/** A body that a write takes, by the end of its path. */
const bodies: readonly (readonly [end: RegExp, body: unknown])[] = [
  [/\/states\/power$/, { target: 'power on' }],
  [/\/states\/provision$/, { target: 'manage' }],
  [/\/parameters$/, { parameters: [] }],
  [/\/plan$/, { target: 'manage' }],
  [/\/maintenance$/, reason],
  [/\/traits$/, { traits: [] }],
  [/\/withdraw$/, { reason: 'x' }],
  [/\/boot_device$/, { boot_device: 'pxe' }],
  [/\/inject_nmi$/, {}],
  [/\/indicators\//, { state: 'on' }],
  [/\/vmedia$/, { device_type: 'cdrom', image_url: 'https://images.example.org/x.iso' }],
  [/\/boot_mode$/, { target: 'uefi' }],
  [/\/secure_boot$/, { target: true }],
  [/\/states\/raid$/, {}],
  [/\/states\/console$/, { enabled: true }],
  [/\/vifs$/, { id: missing }],
  [/\/runs\/[^/]+\/\w+$/, reason],
  [/\/targets\/[^/]+\/consent$/, { now: true }],
  [/\/targets\/[^/]+\/(refuse|skip|retry)$/, reason],
  [/\/rollouts\/[^/]+\/(submit|start|approve|reject)$/, { ...reason, plan_hash: '0'.repeat(64) }],
  [/\/rollouts\/[^/]+\/rollback$/, { ...reason, targets: 'done' }],
  [/\/rollouts\/[^/]+\/\w+$/, reason],
  [/\/discovered-machines\/[^/]+\/refuse$/, reason],
  [/\/discovered-machines\/[^/]+\/enroll$/, { revision: 'x', driver: 'fake-hardware' }],
  [/\/freezes$/, reason],
  [/\/webhooks\/[^/]+$/, { enabled: false }],
  [/\/disruption-budgets\/[^/]+$/, { max_unavailable: 2 }],
  [/\/vendor_passthru/, {}],
];

const changes = [{ op: 'add', path: '/extra/a', value: 1 }];
/** Resources without `extra` have a description. */
const describes = [{ op: 'add', path: '/description', value: 'x' }];

export const bodyFor = (method: string, path: string): unknown => {
  if (method === 'GET' || method === 'DELETE') return undefined;
  const known = bodies.find(([end]) => end.test(path));
  if (known) return known[1];
  return method === 'PATCH' ? (path.includes('inspection_rules') ? describes : changes) : undefined;
};

/** The kind of the object that the first parameter of a path names: what stands before it. */
export const kindOf = (path: string): string => /^\/(?:temper\/)?v1\/((?:\w+\/)*?[\w-]+)\/:/.exec(path)![1]!;
