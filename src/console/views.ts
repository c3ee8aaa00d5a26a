/** Response types of Ironic's resources, with the fields that pages show. Those of Temper's own are in wire. */
import type { ProvisionState } from '../model/lifecycle/states';
import type { Hidden } from './hidden';

export type Fields<Name extends string, Value> = { readonly [name in Name]: Value };
type Perhaps<Name extends string, Value> = Partial<Fields<Name, Value>>;
type Text = string | null;

export type NodeView = Fields<'uuid', string> &
  Fields<'name' | 'power_state', Text> &
  Perhaps<'target_provision_state' | 'maintenance_reason' | 'fault' | 'owner' | 'lessee', Text> &
  Perhaps<'resource_class' | 'description' | 'provision_updated_at' | 'fault_since' | 'maintenance_since', Text> &
  Perhaps<'inspect_interface' | 'rescue_interface', Text> &
  Perhaps<'reservation' | 'last_error', Text | Hidden> &
  Perhaps<'driver' | 'conductor_group', string> &
  Perhaps<'allocation_uuid' | 'instance_name' | 'console_interface' | 'deploy_interface', Text> &
  Perhaps<'protected' | 'retired' | 'disable_power_off' | 'console_enabled', boolean> &
  Perhaps<'properties' | 'instance_info', Readonly<Record<string, unknown>> | null> & {
    readonly provision_state: ProvisionState;
    readonly maintenance: boolean;
    readonly traits?: readonly string[];
  };

export type WorkerView = Fields<'hostname' | 'conductor_group', string> & {
  readonly alive: boolean;
  readonly drivers?: readonly string[];
  readonly updated_at?: string;
};

export type RunbookView = Fields<'uuid' | 'name', string> &
  Perhaps<'description' | 'updated_at' | 'created_at', Text> & {
    readonly owner: Text;
    readonly public: boolean;
    readonly traits?: readonly string[];
    readonly revision?: number;
    readonly steps: readonly (Fields<'interface' | 'step', string> & {
      readonly args: unknown;
      readonly order: number;
      readonly temper?: unknown;
    })[];
  };
