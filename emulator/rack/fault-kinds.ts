/** What can be made to go wrong with a BMC, as a table, and how a fault is asked for. */
import { z } from 'zod';

/**
 * `before`: decided before the request is looked at. `after`: the request was executed, the answer suffers.
 * `inside`: read by the subject it disturbs. `methods` is what it strikes when the fault names no method.
 */
export const faultKinds = {
  latency: { stage: 'before', methods: 'any', says: 'answers after `ms`' },
  hang: {
    stage: 'before',
    methods: 'any',
    says: 'does not answer for `ms`, then closes the connection; nothing is executed',
  },
  'http-503': { stage: 'before', methods: 'any', says: 'answers 503 with Retry-After `retryAfter` seconds' },
  'http-500': { stage: 'before', methods: 'any', says: 'answers 500 with a general error' },
  'html-504': { stage: 'before', methods: 'any', says: 'answers 504 with a page of HTML' },
  'auth-refused': { stage: 'before', methods: 'any', says: 'answers 401 whatever the credentials' },
  'drop-before': { stage: 'before', methods: 'any', says: 'closes the connection without executing' },
  'slow-death': {
    stage: 'before',
    methods: 'any',
    says: 'answers after `ms` for each open session, and closes every connection once there are five',
  },
  'etag-mismatch': { stage: 'before', methods: 'patch', says: 'answers 412 to writes that carry or need an ETag' },
  'drop-after-write': { stage: 'after', methods: 'writes', says: 'executes the write, then closes the connection' },
  'truncated-json': { stage: 'after', methods: 'any', says: 'sends half of the body as if it were all' },
  'session-table-full': { stage: 'inside', methods: 'any', says: 'refuses logins with 503 and RAC0218' },
  'password-changed': { stage: 'inside', methods: 'any', says: 'knows another password, and no session any more' },
  'wrong-power-state': {
    stage: 'inside',
    methods: 'any',
    says: 'reports `value`, or the state at the time the fault was set',
  },
  'power-stuck': {
    stage: 'inside',
    methods: 'any',
    says: 'power commands stay at PoweringOn or PoweringOff while it lasts',
  },
  'ignore-graceful': { stage: 'inside', methods: 'any', says: 'the operating system ignores polite shutdowns' },
  'post-lock': { stage: 'inside', methods: 'any', says: 'settings answer UnableToModifyDuringSystemPOST' },
  'boot-override-ignored': { stage: 'inside', methods: 'any', says: 'the host boots from disk all the same' },
  'bios-refused': { stage: 'inside', methods: 'any', says: 'BIOS settings are locked: a write answers 400' },
  'bios-not-applied': { stage: 'inside', methods: 'any', says: 'a boot leaves BIOS settings pending' },
  'media-stale': { stage: 'inside', methods: 'any', says: 'ejected media still look inserted' },
  'task-fails': { stage: 'inside', methods: 'any', says: 'tasks end as Exception with status Critical' },
  'task-stuck': { stage: 'inside', methods: 'any', says: 'tasks do not end while the fault is on' },
  'task-vanishes': { stage: 'inside', methods: 'any', says: 'tasks answer 404' },
  'task-late': { stage: 'inside', methods: 'any', says: 'tasks answer 404 until `ms` after their start' },
  'task-forgotten': { stage: 'inside', methods: 'any', says: 'tasks that have ended answer 404' },
  'task-new': { stage: 'inside', methods: 'any', says: 'tasks under way show as New' },
  'task-critical': {
    stage: 'inside',
    methods: 'any',
    says: 'tasks end as Completed with status Critical and change nothing; their monitor says nothing of it',
  },
  'task-no-location': {
    stage: 'inside',
    methods: 'any',
    says: 'long work is accepted without saying where its task is',
  },
  'task-in-body': {
    stage: 'inside',
    methods: 'any',
    says: 'long work is accepted with the task as body, without Location',
  },
  'task-retry-after': {
    stage: 'inside',
    methods: 'any',
    says: 'running tasks ask to be left alone for `retryAfter` seconds',
  },
  'work-lost': { stage: 'inside', methods: 'any', says: 'tasks end well and change nothing' },
  'work-late': { stage: 'inside', methods: 'any', says: 'what a task changes shows `ms` after its good end' },
  'work-at-boot': {
    stage: 'inside',
    methods: 'any',
    says: 'tasks end well with a reboot pending, and change something only then',
  },
  'version-late': { stage: 'inside', methods: 'any', says: 'a new firmware version shows `ms` after its task ended' },
  'clock-lost': { stage: 'inside', methods: 'any', says: 'a reset of the BMC sets its clock to 1970' },
  'raid-on-reset': { stage: 'inside', methods: 'any', says: 'volumes change at the next boot only' },
} as const satisfies Record<
  string,
  { stage: 'before' | 'after' | 'inside'; methods: 'any' | 'patch' | 'writes'; says: string }
>;

export type FaultKind = keyof typeof faultKinds;

/** A fault as it is asked for. Without `remaining` and `seconds` it strikes once (`before`, `after`) or lasts 10 s (`inside`). */
export const Fault = z.strictObject({
  kind: z.enum(Object.keys(faultKinds) as [FaultKind, ...FaultKind[]]),
  /** Only requests of this method. */
  method: z.string().toUpperCase().optional(),
  /** Only requests whose path (without the /bmc/N prefix) matches this regular expression. */
  path: z.string().max(200).optional(),
  /** Of the requests that it fits, this share (0 to 1), by chance; all when not given. */
  share: z.number().positive().max(1).optional(),
  /** How many requests it strikes. */
  remaining: z.number().int().positive().optional(),
  /** How long it lasts. */
  seconds: z.number().positive().optional(),
  /** For latency, hang and what comes late; 1000 when not given, 60000 for hang. */
  ms: z.number().int().nonnegative().max(600_000).optional(),
  /** For http-503 and task-retry-after: seconds in Retry-After, 1 when not given. */
  retryAfter: z.number().int().nonnegative().optional(),
  /** For wrong-power-state. */
  value: z.enum(['On', 'Off', 'PoweringOn', 'PoweringOff']).optional(),
});

export type Fault = z.input<typeof Fault>;
