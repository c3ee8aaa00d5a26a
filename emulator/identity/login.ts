/** Reads a login request of the identity API and decides who it is, with which scope. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { type DemoUser, demoApplicationCredentials, demoDomain, demoUsers } from './people';
import type { Claims, Scope, Tokens } from './tokens';

const Domain = z.object({ id: z.string().optional(), name: z.string().optional() });
const UserRef = z.object({ id: z.string().optional(), name: z.string().optional(), domain: Domain.optional() });
const ProjectRef = UserRef;

const Login = z.object({
  auth: z.object({
    identity: z.object({
      methods: z.array(z.enum(['password', 'token', 'application_credential'])).min(1),
      password: z.object({ user: UserRef.extend({ password: z.string() }) }).optional(),
      token: z.object({ id: z.string() }).optional(),
      application_credential: z
        .object({
          id: z.string().optional(),
          name: z.string().optional(),
          secret: z.string(),
          user: UserRef.optional(),
        })
        .optional(),
    }),
    scope: z
      .union([
        z.literal('unscoped'),
        z.object({
          system: z.object({ all: z.literal(true) }).optional(),
          project: ProjectRef.optional(),
          domain: Domain.optional(),
        }),
      ])
      .optional(),
  }),
});
type Auth = z.infer<typeof Login>['auth'];

type Person = {
  readonly user: DemoUser;
  readonly methods: readonly string[];
  readonly credential?: string;
  /** A token that is exchanged for another hands on its end. */
  readonly until?: number;
};

export type Answer =
  | { readonly is: 'in'; readonly claims: Omit<Claims, 'audit' | 'issued'> }
  | { readonly is: 'refused'; readonly status: 400 | 401 | 403; readonly message: string };

const deny: Answer = { is: 'refused', status: 401, message: 'The request you have made requires authentication.' };
const lifeMs = 24 * 3600_000;

/** Who logs in, or how the request is refused. */
export const login = (body: unknown, tokens: Tokens, now: number): Answer => {
  const parsed = Login.safeParse(body);
  if (!parsed.success) {
    const where = parsed.error.issues.map(({ path }) => path.join('.')).join(', ');
    return {
      is: 'refused',
      status: 400,
      message: `The login request is not complete: look at ${where || 'the body'}.`,
    };
  }
  const { auth } = parsed.data;
  const people = auth.identity.methods.map((method) => methods[method](auth, tokens, now));
  const [person] = people;
  if (!person || people.some((other) => other?.user !== person.user)) return deny;
  if (auth.scope !== undefined && person.credential)
    return {
      is: 'refused',
      status: 403,
      message: 'An application credential brings its scope; it cannot be given another.',
    };
  const scope = grantedScope(auth, person.user);
  if (!scope) return deny;
  const { user, credential, until = now + lifeMs } = person;
  return { is: 'in', claims: { user: user.id, scope, methods: [...person.methods], credential, expires: until } };
};

type Method = (auth: Auth, tokens: Tokens, now: number) => Person | undefined;

const methods: Readonly<Record<Auth['identity']['methods'][number], Method>> = {
  password: ({ identity }) => {
    const given = identity.password?.user;
    const user = given && findUser(given);
    if (!given || !user || !sameSecret(given.password, user.password)) return undefined;
    return { user, methods: ['password'] };
  },
  token: ({ identity }, tokens, now) => {
    const claims = identity.token && tokens.read(identity.token.id);
    const user = claims && demoUsers.find(({ id }) => id === claims.user);
    if (!claims || !user || claims.expires <= now) return undefined;
    const used = [...new Set([...claims.methods, 'token'])];
    return { user, methods: used, credential: claims.credential, until: claims.expires };
  },
  application_credential: ({ identity }) => {
    const given = identity.application_credential;
    const owner = given?.user && findUser(given.user);
    const found = demoApplicationCredentials.find(({ id, name, user }) =>
      given?.id ? id === given.id : name === given?.name && user === owner?.name,
    );
    const user = found && demoUsers.find(({ name }) => name === found.user);
    if (!given || !found || !user || !sameSecret(given.secret, found.secret)) return undefined;
    return { user, methods: ['application_credential'], credential: found.id };
  },
};

/** The scope asked for, if the user has roles there. None asked for means the user's own project. */
const grantedScope = ({ scope }: Auth, user: DemoUser): Scope | undefined => {
  if (scope === 'unscoped') return 'unscoped';
  if (scope?.system) return user.systemRoles.length > 0 ? 'system' : undefined;
  if (scope?.domain) return undefined; // no user has a role on the domain
  if (!scope?.project) return user.project ? 'project' : 'unscoped';
  const { id, name, domain } = scope.project;
  const mine = id ? id === user.project?.id : name === user.project?.name && isOurs(domain);
  return mine ? 'project' : undefined;
};

const findUser = ({ id, name, domain }: z.infer<typeof UserRef>): DemoUser | undefined =>
  demoUsers.find((user) => (id ? user.id === id : user.name === name && isOurs(domain)));

const isOurs = (domain: z.infer<typeof Domain> | undefined): boolean =>
  domain?.id ? domain.id === demoDomain.id : domain?.name?.toLowerCase() === demoDomain.name.toLowerCase();

const sameSecret = (given: string, right: string): boolean => {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(right));
};
