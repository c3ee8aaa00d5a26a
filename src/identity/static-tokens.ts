/** Fixed tokens from a file, for machines in installations without an identity service. */
import { z } from 'zod';
import { invalid, parseYaml, reloading, type Source } from './sources';
import { absent, refused, type Strategy, sha256 } from './strategy';
import { callerFrom, oneScope, oneScopeSays, type Standing, standingFields } from './users';

export type StaticTokensOptions = {
  readonly tokens: Source;
  readonly onFault?: (fault: unknown) => void;
  readonly now?: () => number;
};

const shortest = 16;

const Entry = z
  .strictObject({
    user: z.string().min(1),
    /** In clear, or ... */
    token: z.string().min(shortest, `a token has at least ${shortest} characters`).optional(),
    /** ... as the hex SHA-256 of it, so that the file is no secret. */
    sha256: z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/, 'give the 64 hex digits of "printf %s <token> | sha256sum"')
      .optional(),
    ...standingFields,
  })
  .refine((entry) => (entry.token === undefined) !== (entry.sha256 === undefined), 'give either "token" or "sha256"')
  .refine(oneScope, oneScopeSays);

const TokensFile = z.strictObject({ tokens: z.array(Entry).min(1, 'name at least one token') });

type Holder = Standing & { readonly user: string };

/** Parses a tokens file into holders by the token's hash. @throws IdentityFileInvalid naming line and entry */
export const parseTokens = (text: string, file: string): ReadonlyMap<string, Holder> => {
  const holders = new Map<string, Holder>();
  for (const [index, entry] of parseYaml(TokensFile, text, file).tokens.entries()) {
    const hash = entry.sha256?.toLowerCase() ?? sha256(entry.token as string);
    const twin = holders.get(hash);
    if (twin) invalid(file, `tokens.${index}: user ${entry.user} has the same token as user ${twin.user}.`);
    holders.set(hash, entry);
  }
  return holders;
};

/**
 * The static_tokens strategy. Tokens are looked up by their hash, so the time it takes says nothing about a near miss.
 * @throws IdentityFileInvalid when the file cannot be used at start; later faults go to onFault, the old content stays
 */
export const createStaticTokens = async ({ tokens, onFault, now }: StaticTokensOptions): Promise<Strategy> => {
  const holders = await reloading(tokens, parseTokens, { onFault, now });
  return {
    name: 'static_tokens',
    reads: 'token',
    challenge: 'Token realm="Baremetal API"',
    identify: async ({ token }) => {
      if (token === null) return absent;
      const holder = (await holders()).get(sha256(token));
      if (!holder) return refused('the token is not in the tokens file');
      return { is: 'known', caller: callerFrom(holder.user, holder, 'static_tokens') };
    },
  };
};
