/** The guard against connections to addresses that are not allowed: the resolution of a name and the check of it in one act. */

/** The addresses of a host name. */
export type Resolve = (host: string) => Promise<readonly string[]>;

type Found = { address: string; family: number };
type Callback = (error: NodeJS.ErrnoException | null, address: string | Found[], family?: number) => void;

const foundOf = (address: string): Found => ({ address, family: address.includes(':') ? 6 : 4 });

const noAddress = (host: string): Error =>
  Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND', hostname: host });

/**
 * A `lookup` for Node's sockets. What was checked is what is connected to, so a name that changes cannot slip by. Sockets ask it
 * for names only: a literal address is the caller's to check.
 * @param check throws where one of the addresses may not be connected to
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
