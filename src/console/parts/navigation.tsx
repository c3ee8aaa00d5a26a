/** Navigation: the sections that the caller's rights admit, as a sidebar, and on a phone as a bar with a menu. */
import type { CanAnswer } from '../../wire/policy';
import type { IconName } from '../icons';
import type { Api } from '../server/api';
import { askedRules } from './acts';
import { Icon } from './icons';

/** A section without a rule is shown to every caller, because its list holds only what that caller may see. */
type Section = { readonly href: string; readonly label: string; readonly icon: IconName; readonly rule?: string };

const sectionGroups: readonly (readonly [title: string, sections: readonly Section[]])[] = [
  ['', [
    { href: '/', label: 'Overview', icon: 'layout-dashboard' },
    { href: '/inbox', label: 'Inbox', icon: 'inbox' },
  ]],
  ['Fleet', [
    { href: '/nodes', label: 'Nodes', icon: 'server', rule: 'baremetal:node:list' },
    { href: '/allocations', label: 'Allocations', icon: 'key-round', rule: 'baremetal:allocation:list' },
  ]],
  ['Work', [
    { href: '/runs', label: 'Runs', icon: 'activity' },
    { href: '/rollouts', label: 'Rollouts', icon: 'waves' },
    { href: '/runbooks', label: 'Runbooks', icon: 'book-open-check', rule: 'baremetal:runbook:list' },
    { href: '/windows', label: 'Windows', icon: 'calendar-clock', rule: 'temper:window:get' },
    { href: '/notifications', label: 'Notifications', icon: 'bell', rule: 'temper:webhook:get' },
  ]],
  ['Trust', [
    { href: '/audit', label: 'Audit', icon: 'scroll-text', rule: 'temper:audit:get' },
    { href: '/policy', label: 'Policy', icon: 'shield-check', rule: 'temper:policy:explain' },
  ]],
  ['Installation', [{ href: '/system', label: 'System', icon: 'heart-pulse', rule: 'baremetal:conductor:get' }]],
]; // biome-ignore format: one section a row

export const sections = sectionGroups.flatMap(([, group]) => group);
/** On a phone the others are in the menu. */
const onBar = ['/', '/inbox', '/nodes', '/runs'];

/** Rules that admit the caller. */
export type Rights = ReadonlySet<string>;

/** An API that does not answer leaves the sections that need no right. */
export const rightsOf = async (api: Api): Promise<Rights> => {
  const asks = sections.flatMap(({ rule }) => (rule ? [{ rule }] : []));
  // The page itself shows why the API did not answer.
  const answers = await askedRules(api, asks).catch(() => new Map<string, CanAnswer>());
  return new Set([...answers].flatMap(([rule, { allowed }]) => (allowed ? [rule] : [])));
};

const isWithin = (path: string, section: string): boolean =>
  section === '/' ? path === '/' : path === section || path.startsWith(`${section}/`);

/** The section of an address. */
export const sectionOf = (path: string): Section | undefined => sections.find(({ href }) => isWithin(path, href));

type NavigationProps = { readonly path: string; readonly rights: Rights };

const SectionLink = ({ section: { href, label, icon }, path }: { section: Section; path: string }) => (
  <a href={href} aria-current={isWithin(path, href) ? 'page' : undefined}>
    <Icon is={icon} />
    {label}
  </a>
);

export const Brand = () => (
  <a class="brand" href="/">
    Temper
  </a>
);

/** It is a popover, so that a phone can open it without scripts. Wide screens always show it. */
export const Sidebar = ({ path, rights }: NavigationProps) => (
  <nav class="menu" id="menu" popover="auto" aria-label="Sections">
    <Brand />
    {sectionGroups
      .map(([title, group]) => [title, group.filter(({ rule }) => !rule || rights.has(rule))] as const)
      .filter(([, group]) => group.length > 0)
      .map(([title, group]) => (
        <div key={title}>
          {title && <h2>{title}</h2>}
          <ul class="group">
            {group.map((section) => (
              <li key={section.href}>
                <SectionLink section={section} path={path} />
              </li>
            ))}
          </ul>
        </div>
      ))}
  </nav>
);

export const BottomBar = ({ path, rights }: NavigationProps) => (
  <nav class="bottom" aria-label="Main sections">
    {sections
      .filter(({ href, rule }) => onBar.includes(href) && (!rule || rights.has(rule)))
      .map((section) => (
        <SectionLink key={section.href} section={section} path={path} />
      ))}
    <button type="button" popovertarget="menu">
      <Icon is="ellipsis" />
      More
    </button>
  </nav>
);
