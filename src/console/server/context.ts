/** Context of a page: session, API client and address. */
import type { VNode } from 'preact';
import type { Api } from './api';
import type { Keystone } from './keystone';
import type { SessionSettings, Sessions, SignedIn } from './session';

/** Its password is no secret on this machine. */
export type DemoPerson = {
  readonly label: string;
  readonly user: string;
  readonly password: string;
  /** The system if absent. */
  readonly project?: string;
};

export type ConsoleSettings = SessionSettings & {
  /** Without /v1. */
  readonly apiUrl: string;
  /** Keystone; without it there is no password login of its users. */
  readonly identityUrl?: string;
  /** Forms from other origins are refused. */
  readonly publicUrl: string;
  /** One-click users; only `npm start` makes them. */
  readonly demo?: readonly DemoPerson[];
};

export type ConsoleDeps = {
  readonly settings: ConsoleSettings;
  readonly sessions: Sessions;
  readonly keystone: Keystone | undefined;
};

/** Of duplicates the first counts. */
export type PageQuery = Readonly<Record<string, string | undefined>>;
/** Duplicates form a list. */
export type FormBody = Readonly<Record<string, string | readonly string[] | undefined>>;

export type PageContext = ConsoleDeps & {
  readonly api: Api;
  readonly session: SignedIn;
  readonly params: Readonly<Record<string, string>>;
  readonly query: PageQuery;
  /** With the query. */
  readonly path: string;
  /** Only the changed part of the page is fetched. */
  readonly partial: boolean;
};

export type FormContext = PageContext & { readonly form: FormBody };

export type PageAnswer =
  | { readonly title: string; readonly body: VNode; readonly status?: number; readonly section?: string }
  | { readonly to: string };

/** Trimmed; empty if absent. */
export const fieldOf = (form: FormBody, name: string): string => {
  const value = form[name];
  return (typeof value === 'string' ? value : (value?.[0] ?? '')).trim();
};
