/** Sign-in page: a form for each kind of credentials, and a button for each demo user. */
import type { ComponentChildren, VNode } from 'preact';
import { CsrfField, Field, Hidden, Send } from '../parts/forms';
import { Brand } from '../parts/navigation';
import { Notice } from '../parts/texts';
import type { ConsoleSettings } from '../server/context';
import { oidcPath } from '../server/oidc';
import type { Session } from '../server/session';

export type SignInProps = {
  readonly session: Session;
  readonly settings: Pick<ConsoleSettings, 'identityUrl' | 'demo' | 'oidc'>;
  /** Reason for this page, or for the last refusal. */
  readonly says?: string;
  /** Address to return to. */
  readonly next: string;
};

type WayProps = SignInProps & { readonly kind: string; readonly class?: string; readonly children?: ComponentChildren };

const Way = ({ session, next, kind, class: style = 'stack', children }: WayProps) => (
  <form method="post" action="/sign-in" class={style}>
    <CsrfField session={session} />
    <Hidden fields={{ next, kind }} />
    {children}
  </form>
);

const Demo = (props: SignInProps) => (
  <section class="card" aria-labelledby="demo">
    <h2 id="demo">Demo</h2>
    <p class="muted">Sign in as one of these people with one click.</p>
    <Way {...props} kind="demo" class="row">
      {props.settings.demo?.map(({ label }) => (
        <Send key={label} name="person" value={label} label={label} />
      ))}
    </Way>
  </section>
);

const Keystone = (props: SignInProps) => (
  <section class="card" aria-labelledby="password">
    <h2 id="password">Keystone</h2>
    <Way {...props} kind="password">
      <Field label="User" name="user" required autocomplete="username" />
      <Field label="Password" name="password" secret required autocomplete="current-password" />
      <Field label="Project" name="project" hint="Empty for the system" />
      <Field label="Domain" name="domain" value="Default" />
      <Send tone="primary" label="Sign in" />
    </Way>
    <details>
      <summary>With an application credential</summary>
      <Way {...props} kind="application_credential">
        <Field label="ID" name="id" required />
        <Field label="Secret" name="secret" secret required />
        <Send label="Sign in with the credential" />
      </Way>
    </details>
  </section>
);

const Oidc = ({ settings, next }: SignInProps) => (
  <section aria-labelledby="oidc">
    <h2 id="oidc">Single sign-on</h2>
    <p>
      <a class="button primary" href={`${oidcPath}/begin?next=${encodeURIComponent(next)}`}>
        Sign in at {new URL(settings.oidc!.issuer).host}
      </a>
    </p>
  </section>
);

const Others = (props: SignInProps) => (
  <section class="card" aria-labelledby="others">
    <h2 id="others">Other credentials</h2>
    <details>
      <summary>With a token</summary>
      <Way {...props} kind="token">
        <Field label="Token" name="token" secret required />
        <Send label="Sign in with the token" />
      </Way>
    </details>
    <details>
      <summary>With a name and password of the API (HTTP basic)</summary>
      <Way {...props} kind="basic">
        <Field label="Name" name="user" required autocomplete="username" />
        <Field label="Password of the API" name="password" secret required autocomplete="current-password" />
        <Send label="Sign in with name and password" />
      </Way>
    </details>
  </section>
);

export const signInPage = (props: SignInProps): VNode => (
  <>
    <Brand />
    <h1>Sign in</h1>
    {props.says && <Notice tone="wait" role="alert" says={props.says} />}
    {props.settings.demo?.length ? <Demo {...props} /> : null}
    {props.settings.oidc && <Oidc {...props} />}
    {props.settings.identityUrl && <Keystone {...props} />}
    <Others {...props} />
  </>
);

export const signedInPage = (next: string): VNode => (
  <>
    <h1>You are signed in</h1>
    <p>
      <a href={next}>Go on</a>
    </p>
  </>
);
