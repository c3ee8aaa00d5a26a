/** What `npm run test:metal` has made for the tests, or why there is nothing. */

export type Given = {
  /** A root with QEMU, libvirt, dnsmasq and sushy-emulator. */
  readonly tools: string;
  /** Kernel and initramfs of the ramdisk. */
  readonly kernel: string;
  readonly initrd: string;
  /** Raw disk of the small system. */
  readonly image: string;
  /** Folder of the OpenStack clients' commands. */
  readonly clients: string;
  /** KVM where it can start firmware, else QEMU's own emulation of a processor. */
  readonly accelerator: 'kvm' | 'tcg';
};

const text = process.env.TEMPER_TEST_METAL;

export const metalMissing =
  process.env.TEMPER_TEST_METAL_MISSING ??
  (text === undefined ? 'started by npm run test:metal only, which gives it a network of its own' : undefined);

/** Throws where metalMissing says why. */
export const metalGiven = (): Given => {
  if (text === undefined) throw new Error(metalMissing);
  return JSON.parse(text) as Given;
};
