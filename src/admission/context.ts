/** Context of admissions: the current policy, the database, and the settings that limit runs. */
import type { Queries } from '../inventory';
import { defaultQuotas, type Quotas } from '../model/access/quotas';
import type { Glance } from '../model/boot/glance-images';
import type { Policy } from '../policy';

export type AdmissionSettings = {
  /** Allowed origins of images and firmware; empty allows any. */
  readonly imageOrigins: readonly string[];
  /** `interface.step` names that no request may contain. */
  readonly disallowedSteps: readonly string[];
  /** Most concurrent runs of a kind; others wait. 0 for any number. */
  readonly concurrency: Readonly<Record<'clean' | 'deploy', number>>;
  /** Cleans nodes automatically unless the node has its own setting. */
  readonly automatedClean: boolean;
  /** Lessee of a node deployed without one: the project in instance_info, the caller's, or none. */
  readonly automaticLessee: 'instance' | 'request' | 'off';
  /** Ramdisk record of nodes without an image of their own. */
  readonly defaultRamdisk?: string;
  /** Runbooks that replace a node's own list in automated cleaning, by resource class; `*` for all others. */
  readonly cleaningRunbooks: Readonly<Record<string, string>>;
  /** Limits per project; absent: defaults. */
  readonly quotas?: Quotas;
};

export const quotasOf = ({ settings }: { readonly settings: Pick<AdmissionSettings, 'quotas'> }): Quotas =>
  settings.quotas ?? defaultQuotas;

export type AdmissionContext = {
  policy(): Policy;
  readonly inventory: Queries;
  readonly settings: AdmissionSettings;
  /** Absent if no image comes from Glance. */
  readonly glance?: Pick<Glance, 'find' | 'isMember'>;
};
