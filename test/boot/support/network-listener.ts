/** The boot service with one boot by the network, whose store is a list of answers. */
import { bootListener, type createImages, type Discovery } from '../../../src/boot';
import type { Served } from '../../../src/inventory/nodes/boot-capabilities';
import type { Asking, GrantedBoot } from '../../../src/inventory/nodes/network-boots';
import { hashOf } from '../../../src/inventory/secrets/boot-tokens';
import { noImages } from './no-images';

type Listening = {
  readonly images: ReturnType<typeof createImages>;
  readonly token: string;
  /** What is served under the token now. */
  readonly served: () => Served | undefined;
  /** What the store answers to the next machines; none after the last. */
  readonly answers: () => GrantedBoot[];
  /** What the store waits for before it answers. */
  readonly held?: () => Promise<void>;
  /** Where each machine that asks is noted. */
  readonly asked: Asking[];
  readonly files: readonly { readonly path: string; readonly content: Buffer }[];
  readonly loaders?: string;
  readonly discovery?: Discovery;
  readonly readersAtOnce?: number;
  readonly trusts?: (address: string) => boolean;
  readonly warn?: (message: string) => void;
};

export const networkListener = ({
  images,
  token,
  served,
  answers,
  held,
  asked,
  files,
  loaders,
  discovery,
  readersAtOnce,
  trusts = () => false,
  warn,
}: Listening) =>
  bootListener({
    inventory: {
      bootCapabilities: { served: async (hash) => (hash === hashOf(token) ? served() : undefined) },
      networkBoots: {
        give: async (asking) => {
          asked.push(asking);
          await held?.();
          return answers().shift() ?? { is: 'none' };
        },
      },
      imageCapabilities: noImages.capabilities,
    },
    imageCache: noImages.cache,
    images,
    files: [...files],
    log: { info() {}, warn: (message) => warn?.(message) },
    ...(loaders !== undefined && { loaders }),
    ...(discovery && { discovery }),
    ...(readersAtOnce !== undefined && { readersAtOnce }),
    trusts,
    pieceMs: 30_000,
  });
