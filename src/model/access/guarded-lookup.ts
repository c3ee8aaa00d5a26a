/** Resolves and checks a host name in one act, for connections only to allowed addresses. */

export type Resolve = (host: string) => Promise<readonly string[]>;

type FoundAddress = { address: string; family: number };
type Callback = (error: NodeJS.ErrnoException | null, address: string | FoundAddress[], family?: number) => void;

const foundOf = (address: string): FoundAddress => ({ address, family: address.includes(':') ? 6 : 4 });

const noAddress = (host: string): Error =>
  Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND', hostname: host });

/**
 * A `lookup` for Node's sockets. They connect to the checked addresses, which prevents DNS rebinding. Sockets call it for names only:
 * the caller must check literal addresses.
 * @param check throws for a forbidden address
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
