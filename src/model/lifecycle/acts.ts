/** Single acts on a node: effect, time limit and performer. */

/**
 * `read` only reads. `converge` reads before it writes, so it is idempotent. `once` may do harm if done twice: its intent is recorded
 * first, and a second attempt only reads.
 */
export type Effect = 'read' | 'converge' | 'once';

/** Time limit of one attempt; `job` is for hours, such as firmware or an image. */
export type ActTimeout = 'power' | 'soft power' | 'start' | 'job';

export type ActRow = {
  readonly effect: Effect;
  readonly timeout?: ActTimeout;
  /** `bmc`: the node's hardware type. `agent`: the ramdisk on it. */
  readonly by?: 'bmc' | 'agent';
  /** Its success ends the ramdisk. */
  readonly endsAgent?: true;
  /**
   * If the ramdisk is lost, the act starts over once, in a newly booted ramdisk. For a `once` act, its command must certainly not have
   * been sent.
   */
  readonly startsOver?: true;
  /** Done if the ramdisk does not answer and the BMC reports the node off. */
  readonly doneWhenOff?: true;
  /** Keeps its record of jobs for an operator's retry, and checks these jobs first. */
  readonly ledger?: true;
  /** Destroys data on the node's disks. */
  readonly erases?: true;
  readonly says: string;
};

/** Each act is one activity, so a crash loses at most one. */
export const acts = {
  verify: { effect: 'read', says: 'read power, boot mode and identity' },
  power_on: { effect: 'converge', timeout: 'power', says: 'power on' },
  power_off: { effect: 'converge', timeout: 'power', endsAgent: true, says: 'power off' },
  soft_power_off: {
    effect: 'converge',
    timeout: 'soft power',
    endsAgent: true,
    says: 'ask the system to shut down',
  },
  inject_nmi: { effect: 'once', says: 'inject a non-maskable interrupt' },
  read_boot_device: { effect: 'read', says: 'read the boot device' },
  list_boot_devices: { effect: 'read', says: 'list the boot devices' },
  set_boot_device: { effect: 'converge', says: 'set the boot device' },
  set_boot_mode: { effect: 'converge', says: 'set the boot mode' },
  read_bios: { effect: 'read', says: 'read the BIOS settings' },
  stage_bios: { effect: 'converge', says: 'stage BIOS settings' },
  stage_bios_reset: { effect: 'converge', says: 'stage a reset of the BIOS settings' },
  confirm_bios: { effect: 'read', timeout: 'start', says: 'wait for the BIOS to show the settings' },
  confirm_bios_reset: { effect: 'read', timeout: 'start', says: 'wait for the BIOS to show its defaults' },
  set_secure_boot: { effect: 'converge', says: 'set secure boot' },
  reset_secure_boot_keys: { effect: 'once', says: 'reset the secure boot keys to default' },
  clear_secure_boot_keys: { effect: 'once', says: 'clear the secure boot keys' },
  read_media: { effect: 'read', says: 'read the virtual drives' },
  insert_media: { effect: 'converge', says: 'insert virtual media' },
  eject_media: { effect: 'converge', says: 'eject virtual media' },
  read_indicators: { effect: 'read', says: 'read the indicators' },
  set_indicator: { effect: 'converge', says: 'set the indicator' },
  read_subscriptions: { effect: 'read', says: 'read the event subscriptions' },
  create_subscription: { effect: 'converge', says: 'subscribe to events' },
  delete_subscription: { effect: 'converge', says: 'end a subscription to events' },
  reset_bmc: { effect: 'once', says: 'reset the BMC and wait until it is back' },
  set_bmc_clock: { effect: 'converge', says: 'set the clock of the BMC' },
  send_raw: { effect: 'once', says: 'send raw bytes to the BMC' },
  inspect: { effect: 'read', timeout: 'start', says: 'read what the node consists of' },
  read_firmware: { effect: 'read', says: 'read the versions of firmware' },
  update_firmware: {
    effect: 'once',
    timeout: 'job',
    endsAgent: true,
    ledger: true,
    says: 'update firmware and wait until its version shows',
  },
  create_raid: {
    effect: 'once',
    timeout: 'job',
    endsAgent: true,
    ledger: true,
    erases: true,
    says: 'create RAID volumes and wait until they show',
  },
  delete_raid: {
    effect: 'once',
    timeout: 'job',
    endsAgent: true,
    ledger: true,
    erases: true,
    says: 'delete RAID volumes and wait until they are gone',
  },
  apply_raid: {
    effect: 'once',
    timeout: 'job',
    endsAgent: true,
    ledger: true,
    erases: true,
    says: 'bring the RAID volumes to the configuration',
  },
  log: { effect: 'converge', says: 'write a line to the log' },
  agent_steps: { effect: 'read', by: 'agent', startsOver: true, says: 'ask the agent which steps it has' },
  agent_step: { effect: 'once', timeout: 'job', by: 'agent', startsOver: true, says: 'run the step on the node' },
  agent_write_image: {
    effect: 'converge',
    timeout: 'job',
    by: 'agent',
    startsOver: true,
    erases: true,
    says: 'write the image to the disk',
  },
  agent_install_bootloader: {
    effect: 'converge',
    timeout: 'start',
    by: 'agent',
    startsOver: true,
    says: 'install the boot loader',
  },
  agent_finalize_rescue: { effect: 'converge', by: 'agent', startsOver: true, says: 'set the rescue password' },
  agent_power_off: {
    effect: 'converge',
    timeout: 'power',
    by: 'agent',
    startsOver: true,
    doneWhenOff: true,
    says: 'let the agent shut the node down',
  },
} as const satisfies Record<string, ActRow>;

export type ActName = keyof typeof acts;

/** Has all optional columns in its type. */
export const actRow = (act: ActName): ActRow => acts[act];
