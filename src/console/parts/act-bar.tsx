/** Acts at the head of a page: one primary button, further buttons, and menus that also hold the unavailable acts with their reasons. */
import type { ComponentChildren } from 'preact';
import { ActDialog, type ActsProps, type Offer, whyOff } from './acts';
import { Icon } from './icons';

/** A menu without names holds all acts that stand nowhere else. */
type Menu = { readonly id: string; readonly label: string; readonly names?: readonly string[] };

type ActBarProps = ActsProps & {
  /** Acts that lead on; the first possible one is the primary button. */
  readonly leads: readonly string[];
  /** Shown as buttons if they are possible. */
  readonly beside?: readonly string[];
  readonly menus: readonly Menu[];
};

type JudgedOffer = { readonly offer: Offer; readonly why: ComponentChildren };

type OpenerProps = { readonly offer: Offer; readonly id: string; readonly style?: string; readonly inMenu?: boolean };

const Opener = ({ offer: { label, href, verb }, id, style, inMenu }: OpenerProps) => {
  const text = <>{label}{inMenu && verb && verb !== label.toLowerCase() && <small>{verb}</small>}</>; // biome-ignore format: one line
  if (href) return <a class={`button ${style ?? ''}`.trim()} href={href}>{text}</a>; // biome-ignore format: one line
  return <button type="button" class={style} popovertarget={id}>{text}</button>; // biome-ignore format: one line
};

const MenuItem = ({ offer, why, id }: JudgedOffer & { id: string }) =>
  why === undefined ? (
    <li>
      <Opener offer={offer} id={id} style={offer.danger ? 'danger' : undefined} inMenu />
    </li>
  ) : (
    <li class="off">
      <span>
        {offer.label} {offer.verb && <small>{offer.verb}</small>}
      </span>
      <p>{why}</p>
    </li>
  );

type MenuProps = { readonly id: string; readonly label: string; readonly rows: readonly JudgedOffer[]; readonly idOf: (offer: Offer) => string }; // biome-ignore format: one row

const ActMenu = ({ id, label, rows, idOf }: MenuProps) =>
  rows.length === 0 ? null : (
    <>
      <button type="button" popovertarget={id}>
        {label}
        <Icon is="chevron-down" />
      </button>
      <div id={id} class="drop near" popover="auto">
        <ul class="items" aria-label={label}>
          {rows.map(({ offer, why }) => <MenuItem key={offer.name} offer={offer} why={why} id={idOf(offer)} />)}
        </ul>
      </div>
    </>
  ); // biome-ignore format: short parts

export const ActBar = ({ id, offers, answers, session, actionOf, about, leads, beside = [], menus }: ActBarProps) => {
  const idOf = (offer: Offer): string => `${id}-${offer.name}`;
  const rows = offers.map((offer): JudgedOffer => ({ offer, why: whyOff(offer, answers, about) }));
  const possible = rows.filter(({ why }) => why === undefined).map(({ offer }) => offer);
  const primary = leads.flatMap((lead) => possible.find(({ name }) => name === lead) ?? [])[0];
  const buttons = possible.filter((offer) => offer !== primary && beside.includes(offer.name));
  const inMenus = menus.flatMap(({ names = [] }) => names);
  const left = rows.filter(({ offer }) => offer !== primary && !buttons.includes(offer));
  const rowsOf = ({ names }: Menu) =>
    left.filter(({ offer: { name } }) => (names ? names.includes(name) : !inMenus.includes(name)));
  return (
    <div class="acts">
      {primary && <Opener offer={primary} id={idOf(primary)} style="primary" />}
      {buttons.map((offer) => <Opener key={offer.name} offer={offer} id={idOf(offer)} />)}
      {menus.map((menu) => <ActMenu key={menu.id} id={`${id}-${menu.id}`} label={menu.label} rows={rowsOf(menu)} idOf={idOf} />)}
      {possible.filter(({ href }) => !href).map((offer) => (
        <ActDialog key={offer.name} id={idOf(offer)} offer={offer} session={session} action={actionOf(offer)} />
      ))}
    </div>
  ); // biome-ignore format: short parts
};
