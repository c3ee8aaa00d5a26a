/** Resolves and checks a host name in one act, against connections to addresses that are not allowed. */

/** The addresses of a host name. */
export type Resolve = (host: string) => Promise<readonly string[]>;

type Found = { address: string; family: number };
type Callback = (error: NodeJS.ErrnoException | null, address: string | Found[], family?: number) => void;

const foundOf = (address: string): Found => ({ address, family: address.includes(':') ? 6 : 4 });

const noAddress = (host: string): Error =>
  Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND', hostname: host });

/**
 * A `lookup` for Node's sockets. The socket connects to the checked addresses, so DNS rebinding cannot bypass the check. Sockets call it
 * for names only: the caller must check a literal address.
 * @param check throws if a connection to one of the addresses is not allowed
 */
export const guardedLookup =
  (resolve: Resolve, check: (host: string, addresses: readonly string[]) => void) =>
  (host: string, options: { readonly all?: boolean }, callback: Callback): void => {
    resolve(host)
      .then((addresses) => {
        check(host, addresses);
        const [first, ...others] = addresses.map(foundOf);
        if (!first) throw noAddress(host);
        return options.all ? callback(null, [first, ...others]) : callback(null, first.address, first.family);
      })
      .catch((error: NodeJS.ErrnoException) => callback(error, ''));
  };
