/** Context of a page: session, API client and address. */
import type { VNode } from 'preact';
import type { Crumbs } from '../parts/layout';
import type { Api, PageQuery } from './api';
import type { Keystone } from './keystone';
import type { OidcSettings, OidcSignIn } from './oidc';
import type { SessionSettings, Sessions, SignedIn } from './session';

/** A demo user. Its password is no secret on this machine. */
export type DemoPerson = {
  readonly label: string;
  readonly user: string;
  readonly password: string;
  /** Name of a project; the system if absent. */
  readonly project?: string;
};

export type ConsoleSettings = SessionSettings & {
  /** Base URL without /v1. */
  readonly apiUrl: string;
  /** Keystone; without it there is no password login of its users. */
  readonly identityUrl?: string;
  /** An OIDC server at which people sign in. */
  readonly oidc?: OidcSettings;
  /** Public address of the console. Forms from other origins are refused. */
  readonly publicUrl: string;
  /** Longest wait for an answer of the API to a question; by default a page appears within 5 s. */
  readonly answerLimitMs?: number;
  /** One-click users; only `npm start` makes them. */
  readonly demo?: readonly DemoPerson[];
};

export type ConsoleDeps = {
  readonly settings: ConsoleSettings;
  readonly sessions: Sessions;
  readonly keystone: Keystone | undefined;
  readonly oidc: OidcSignIn | undefined;
};

/** Fields of a form; duplicates form a list. */
export type FormBody = Readonly<Record<string, string | readonly string[] | undefined>>;

export type PageContext = ConsoleDeps & {
  readonly api: Api;
  readonly session: SignedIn;
  readonly params: Readonly<Record<string, string>>;
  readonly query: PageQuery;
  /** Path and query of the request. */
  readonly path: string;
  /** Only the changed part of the page is fetched. */
  readonly partial: boolean;
};

export type FormContext = PageContext & { readonly form: FormBody };

export type PageAnswer =
  | { readonly title: string; readonly body: VNode; readonly status?: number; readonly crumbs?: Crumbs }
  | { readonly to: string };

/** Returns a field trimmed; empty if absent. */
export const fieldOf = (form: FormBody, name: string): string => {
  const value = form[name];
  return (typeof value === 'string' ? value : (value?.[0] ?? '')).trim();
};
