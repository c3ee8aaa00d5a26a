/** The sign-in page: one form for each kind of credentials that the API accepts, and one button for each person of the demo. */
import type { VNode } from 'preact';
import { CsrfField, Field, Hidden } from '../parts/forms';
import { Notice } from '../parts/texts';
import type { ConsoleSettings } from '../server/context';
import type { Session } from '../server/session';

export type SignInProps = {
  readonly session: Session;
  readonly settings: Pick<ConsoleSettings, 'identityUrl' | 'demo'>;
  /** Why the page is shown, or why the last attempt was refused. */
  readonly says?: string;
  /** Where the caller was going. */
  readonly next: string;
};

const Asked = ({ session, next, kind }: { session: Session; next: string; kind: string }) => (
  <>
    <CsrfField session={session} />
    <Hidden fields={{ next, kind }} />
  </>
);

const Demo = ({ session, settings, next }: SignInProps) => (
  <section aria-labelledby="demo">
    <h2 id="demo">Demo</h2>
    <p>This installation is a demo. Its people sign in with one click.</p>
    <form method="post" action="/sign-in" class="row">
      <Asked session={session} next={next} kind="demo" />
      {settings.demo?.map(({ label }) => (
        <button key={label} type="submit" name="person" value={label}>
          {label}
        </button>
      ))}
    </form>
  </section>
);

const Keystone = ({ session, next }: SignInProps) => (
  <section aria-labelledby="password">
    <h2 id="password">Keystone</h2>
    <form method="post" action="/sign-in" class="stack">
      <Asked session={session} next={next} kind="password" />
      <Field label="User" name="user" required autocomplete="username" />
      <Field label="Password" name="password" secret required autocomplete="current-password" />
      <Field label="Project" name="project" hint="empty for the system, where you have a role there" />
      <Field label="Domain" name="domain" value="Default" />
      <button type="submit" class="primary">
        Sign in
      </button>
    </form>
    <details>
      <summary>With an application credential</summary>
      <form method="post" action="/sign-in" class="stack">
        <Asked session={session} next={next} kind="application_credential" />
        <Field label="Id" name="id" required />
        <Field label="Secret" name="secret" secret required />
        <button type="submit">Sign in with the credential</button>
      </form>
    </details>
  </section>
);

const Others = ({ session, next }: SignInProps) => (
  <section aria-labelledby="others">
    <h2 id="others">Other credentials</h2>
    <details>
      <summary>With a token</summary>
      <form method="post" action="/sign-in" class="stack">
        <Asked session={session} next={next} kind="token" />
        <Field label="Token" name="token" secret required />
        <button type="submit">Sign in with the token</button>
      </form>
    </details>
    <details>
      <summary>With a name and password of the API (HTTP basic)</summary>
      <form method="post" action="/sign-in" class="stack">
        <Asked session={session} next={next} kind="basic" />
        <Field label="Name" name="user" required autocomplete="username" />
        <Field label="Password of the API" name="password" secret required autocomplete="current-password" />
        <button type="submit">Sign in with name and password</button>
      </form>
    </details>
  </section>
);

export const signInPage = (props: SignInProps): VNode => (
  <div class="sign-in">
    <h1>Sign in</h1>
    {props.says && (
      <Notice tone="wait" role="alert">
        {props.says}
      </Notice>
    )}
    {props.settings.demo?.length ? <Demo {...props} /> : null}
    {props.settings.identityUrl && <Keystone {...props} />}
    <Others {...props} />
  </div>
);
