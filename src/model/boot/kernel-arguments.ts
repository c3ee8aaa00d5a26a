/** The kernel arguments of a ramdisk: which characters they may hold, and whether they fit the room that its image has for them. */
import { raise } from '../errors';

/** Characters of one argument list at most, whatever its image has room for; the kernel itself takes 2,048 on x86. */
export const longestArguments = 1_900;

// The list stands on a line of GRUB's configuration, which is a script: quotes, braces, $, ;, |, &, <, >, # and \ mean something
// there, and a line break would begin a command (https://www.gnu.org/software/grub/manual/grub/grub.html#Shell_002dlike-scripting).
const allowed = /^[A-Za-z0-9_.,:/=+@%~?^[\]-]$/;

/** What is wrong with a list of kernel arguments, separated by single blanks; undefined where nothing is. */
export const argumentsFault = (text: string, room = longestArguments): string | undefined => {
  if (text === '') return undefined;
  const words = text.split(' ');
  if (words.includes('')) return 'must be separated by single blanks';
  const wrong = [...text].find((one) => one !== ' ' && !allowed.test(one));
  if (wrong !== undefined) return `must not hold ${shownCharacter(wrong)}`;
  const most = Math.min(room, longestArguments);
  return text.length > most ? `has ${text.length} characters, and there is room for ${most}` : undefined;
};

const shownCharacter = (one: string): string => {
  const code = one.codePointAt(0)!;
  return code > 0x20 && code < 0x7f ? one : `the character U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
};

// Who the ramdisk is and whom it obeys is decided by the run that boots it.
const reservedArguments: readonly string[] = [
  'ipa-agent-token',
  'ipa-api-url',
  'ipa-inspection-callback-url',
  'boot_method',
  'BOOTIF',
  'initrd',
];

/** What is wrong with arguments that an operator gives, beside their characters: none may take the place of a run's own. */
export const givenArgumentsFault = (text: string, room?: number): string | undefined => {
  const taken = text.split(' ').find((word) => reservedArguments.includes(word.split('=', 1)[0]!));
  if (taken !== undefined) return `must not set ${taken.split('=', 1)[0]}, which each boot sets itself`;
  return argumentsFault(text, room);
};

/** How many characters a token takes that is put in at the moment of sending: base64url of 32 bytes. */
const tokenLength = 43;

/** What is put in while an image is sent: the store keeps hashes of it. */
export type SentFacts = {
  /** The ramdisk's token. */
  readonly token: string;
  /** Where to send what an inspection finds, and what to bear with it; null unless one is under way. */
  readonly inspection: { readonly url: string; readonly token: string } | null;
};

/** The arguments that are put in while an image is sent. */
export const sentArguments = ({ token, inspection }: SentFacts): string =>
  [
    `ipa-agent-token=${token}`,
    ...(inspection ? [`ipa-inspection-callback-url=${inspection.url}?boot=${inspection.token}`] : []),
  ].join(' ');

/** What a script of the network puts before a boot's arguments: the names of its initramfs, and the port that asked. */
export const scriptArguments = (mac: string, initrds: readonly string[]): string =>
  [...initrds.map((name) => `initrd=${name}`), `BOOTIF=${mac}`].join(' ');

const widestScript = scriptArguments('00:00:00:00:00:00', ['initrd', 'files.img']).length + 1;

/** Characters that there are for a boot's own arguments where the network's script adds its own. */
export const networkRoom = longestArguments - widestScript;

/** What a run says to its ramdisk, by the names that openstack/ironic-python-agent reads from /proc/cmdline. */
type BootFacts = {
  /** Of the ramdisks' own API, without /v1. */
  readonly apiUrl: string;
  /** MAC address of the port that the node boots from; absent where it has none, or several, or is known by who asks. */
  readonly mac?: string;
  /** How the ramdisk comes to the node: in an image of a virtual drive or of the firmware's own client, or by the network. */
  readonly by: 'vmedia' | 'network';
  /** Where to send what an inspection finds; null unless one is under way. */
  readonly inspection_url: string | null;
};

const bootArguments = ({ apiUrl, mac, by }: BootFacts): string[] => [
  `ipa-api-url=${apiUrl}`,
  ...(by === 'vmedia' ? ['boot_method=vmedia'] : []),
  ...(mac === undefined ? [] : [`BOOTIF=${mac}`]),
];

/** Where a ramdisk sends what it found. */
export const inspectionUrl = (apiUrl: string): string => `${apiUrl.replace(/\/$/, '')}/v1/continue_inspection`;

/**
 * The arguments of a machine that no node stands for: its ramdisk reports what it finds, once, and looks for no node.
 * `ramdisk` are the record's own. Throws where they do not fit, or do not keep to the grammar.
 */
export const discoveryArguments = (ramdisk: string, apiUrl: string): string => {
  const callback = `ipa-inspection-callback-url=${inspectionUrl(apiUrl)}`;
  const text = ramdisk === '' ? callback : `${ramdisk} ${callback}`;
  const fault = argumentsFault(text, networkRoom);
  if (fault !== undefined) throw new Error(`kernel arguments of discovery: ${fault}`);
  return text;
};

// What a node's own list takes over from the ramdisk's; openstack/ironic:ironic/common/utils.py spells it so.
const placeholder = '%default%';

type LineWanted = {
  readonly facts: BootFacts;
  /** The ramdisk's arguments. */
  readonly ramdisk: string;
  /** The node's `kernel_append_params`, in place of the ramdisk's; %default% in it stands for those. */
  readonly node?: string;
  /** Bytes that the image has for the whole line. */
  readonly room: number;
};

/**
 * The argument list of a boot, without what is put in while its image is sent, for which there is room.
 * Throws KernelArgumentsRefused.
 */
export const argumentLine = ({ facts, ramdisk, node, room }: LineWanted): string => {
  const given = (node ?? placeholder).replaceAll(placeholder, ramdisk).trim();
  const line = [...(given === '' ? [] : [given]), ...bootArguments(facts)].join(' ');
  const token = '-'.repeat(tokenLength);
  const { inspection_url: url } = facts;
  const sent = sentArguments({ token, inspection: url === null ? null : { url, token } });
  const left = Math.min(room, longestArguments) - sent.length - 1;
  const reason = givenArgumentsFault(given) ?? argumentsFault(sent) ?? argumentsFault(line, left);
  return reason === undefined ? line : raise('KernelArgumentsRefused', { reason });
};
