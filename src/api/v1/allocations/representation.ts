/** What every route of allocations shares: its paths and how an allocation is shown. */
import { z } from 'zod';
import { allocationTable } from '../../../model/resources/allocations';
import { links, projections } from '../../resource/representation';

export const allocationCollection = '/v1/allocations';
export const allocationPath = '/v1/allocations/:allocation_ident';
export const allocationParams = z.object({ allocation_ident: z.string() });

export const shownAllocation = projections(allocationTable, {
  links: (row, { base }) => links(base, `allocations/${row.uuid}`),
});
