/** What a page is made with: who is signed in, the API as that caller, and the address that was asked for. */
import type { VNode } from 'preact';
import type { Api } from './api';
import type { Keystone } from './keystone';
import type { SessionSettings, Sessions, SignedIn } from './session';

/** A caller of the demo, whose password is no secret on this machine. */
export type DemoPerson = {
  readonly label: string;
  readonly user: string;
  readonly password: string;
  /** Name of a project; the system when absent. */
  readonly project?: string;
};

export type ConsoleSettings = SessionSettings & {
  /** Base of the API, without /v1. */
  readonly apiUrl: string;
  /** Keystone; without it the sign-in page offers no passwords of its users. */
  readonly identityUrl?: string;
  /** Where people reach the console; forms that come from elsewhere are refused. */
  readonly publicUrl: string;
  /** Signed in with one click; only where `npm start` has made them. */
  readonly demo?: readonly DemoPerson[];
};

export type ConsoleDeps = {
  readonly settings: ConsoleSettings;
  readonly sessions: Sessions;
  readonly keystone: Keystone | undefined;
};

/** Parameters of the address, of which the first of several counts. */
export type PageQuery = Readonly<Record<string, string | undefined>>;
/** Fields of a form; several of one name come as a list. */
export type FormBody = Readonly<Record<string, string | readonly string[] | undefined>>;

export type PageContext = ConsoleDeps & {
  readonly api: Api;
  readonly session: SignedIn;
  readonly params: Readonly<Record<string, string>>;
  readonly query: PageQuery;
  /** Path and query of the request. */
  readonly path: string;
  /** Whether the page is fetched for the part of it alone that has changed. */
  readonly partial: boolean;
};

export type FormContext = PageContext & { readonly form: FormBody };

/** A page, or where the browser goes instead. */
export type PageAnswer =
  | { readonly title: string; readonly body: VNode; readonly status?: number; readonly section?: string }
  | { readonly to: string };

/** One field of a form as a text without blanks around it; empty when absent. */
export const fieldOf = (form: FormBody, name: string): string => {
  const value = form[name];
  return (typeof value === 'string' ? value : (value?.[0] ?? '')).trim();
};
