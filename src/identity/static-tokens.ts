/** The static_tokens strategy: fixed tokens from a file. */

import { z } from 'zod';
import { sha256Of } from '../model/digests';
import { parseYaml, refuseIdentityFile, reloading, type Source } from './sources';
import { absent, refused, type Strategy } from './strategy';
import {
  callerFrom,
  oneScope,
  oneScopeSays,
  parseUsers,
  standingFields,
  supportsAsAdmin,
  supportsAsAdminSays,
  type UserStanding,
} from './users';

export type StaticTokensOptions = {
  readonly tokens: Source;
  /** The users file, for holders whose entry has no roles. */
  readonly users?: Source;
  readonly onFault?: (fault: unknown) => void;
  readonly now?: () => number;
};

const shortest = 16;

type Saying = { roles?: unknown; project?: string; system?: string };

/** Both roles and scope, or neither: then the users file has them. */
const isWhole = (entry: Saying): boolean => (entry.roles === undefined ? saysNoScope(entry) : oneScope(entry));
const saysNoScope = ({ project, system }: Saying): boolean => project === undefined && system === undefined;
const wholeSays = `${oneScopeSays}, with its roles; or neither roles nor scope, and say in the users file what the user is`;

const TokenEntry = z
  .strictObject({
    user: z.string().min(1),
    /** The token in clear text, or... */
    token: z.string().min(shortest, `a token has at least ${shortest} characters`).optional(),
    /** ...its hexadecimal SHA-256, so that the file has no secret. */
    sha256: z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/, 'give the 64 hex digits of "printf %s <token> | sha256sum"')
      .optional(),
    ...standingFields,
    roles: standingFields.roles.optional(),
  })
  .refine((entry) => (entry.token === undefined) !== (entry.sha256 === undefined), 'give either "token" or "sha256"')
  .refine(isWhole, wholeSays)
  .refine(supportsAsAdmin, supportsAsAdminSays);

const TokensFile = z.strictObject({ tokens: z.array(TokenEntry).min(1, 'name at least one token') });

type TokenEntry = z.infer<typeof TokenEntry>;
type Holder = { readonly user: string; readonly standing: UserStanding | null };

const standingOf = ({ roles, ...rest }: TokenEntry): UserStanding | null => (roles ? { ...rest, roles } : null);

/** @throws IdentityFileInvalid with line and entry */
export const parseTokens = (text: string, file: string): ReadonlyMap<string, Holder> => {
  const holders = new Map<string, Holder>();
  for (const [index, entry] of parseYaml(TokensFile, text, file).tokens.entries()) {
    const hash = entry.sha256?.toLowerCase() ?? sha256Of(entry.token as string);
    const twin = holders.get(hash);
    if (twin) refuseIdentityFile(file, `tokens.${index}: user ${entry.user} has the same token as user ${twin.user}.`);
    holders.set(hash, { user: entry.user, standing: standingOf(entry) });
  }
  return holders;
};

/**
 * Looks up hashes, so the response time does not reveal near misses.
 * @throws IdentityFileInvalid if a file is invalid at start. Later faults go to onFault, and the old content stays
 */
export const createStaticTokens = async (options: StaticTokensOptions): Promise<Strategy> => {
  const { onFault, now } = options;
  const holders = await reloading(options.tokens, parseTokens, { onFault, now });
  const users = options.users && (await reloading(options.users, parseUsers, { onFault, now }));
  const standingIn = async ({ user, standing }: Holder) => standing ?? (await users?.())?.get(user);
  return {
    name: 'static_tokens',
    reads: 'token',
    challenge: 'Token realm="Baremetal API"',
    identify: async ({ token }) => {
      if (token === null) return absent;
      const holder = (await holders()).get(sha256Of(token));
      if (!holder) return refused('the token is not in the tokens file');
      const standing = await standingIn(holder);
      if (!standing) return refused(`neither tokens file nor users file says what user ${holder.user} is`);
      return { is: 'known', caller: callerFrom(holder.user, standing, 'static_tokens') };
    },
  };
};
