// The library: what is done to a machine, and the life of a node.

package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/allocations"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/drivers"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
)

// machine is what a node's BMC is asked for at once: power, boot device, interrupt, inspection.
func (w *walker) machine(ctx context.Context, node string) {
	w.does("nodes.Validate", func() error {
		found, err := nodes.Validate(ctx, w.api, node).Extract()
		if err == nil && !(found.Power.Result && found.Management.Result) {
			err = fmt.Errorf("%s", shown(found))
		}
		return err
	})
	for _, turn := range []struct {
		target nodes.TargetPowerState
		state  string
	}{{nodes.PowerOn, "power on"}, {nodes.Rebooting, "power on"}, {nodes.PowerOff, "power off"}} {
		w.powers(ctx, node, turn.target, turn.state)
	}
	w.does("nodes.SetBootDevice", func() error {
		return nodes.SetBootDevice(ctx, w.api, node, nodes.BootDeviceOpts{BootDevice: "pxe", Persistent: false}).ExtractErr()
	})
	w.does("nodes.GetBootDevice", func() error {
		found, err := nodes.GetBootDevice(ctx, w.api, node).Extract()
		if err != nil {
			return err
		}
		return same("boot device", found.BootDevice, "pxe")
	})
	w.does("nodes.GetSupportedBootDevices", func() error {
		found, err := nodes.GetSupportedBootDevices(ctx, w.api, node).Extract()
		if err == nil && !slices.Contains(found, "disk") {
			err = fmt.Errorf("%v", found)
		}
		return err
	})
	w.powers(ctx, node, nodes.PowerOn, "power on")
	w.does("nodes.InjectNMI", func() error { return nodes.InjectNMI(ctx, w.api, node).ExtractErr() })
	w.does("nodes.SetMaintenance", func() error {
		if err := nodes.SetMaintenance(ctx, w.api, node, nodes.MaintenanceOpts{Reason: "a broken fan"}).ExtractErr(); err != nil {
			return err
		}
		found, err := nodes.Get(ctx, w.api, node).Extract()
		if err != nil {
			return err
		}
		return same("reason", found.MaintenanceReason, "a broken fan")
	})
	w.does("nodes.UnsetMaintenance", func() error { return nodes.UnsetMaintenance(ctx, w.api, node).ExtractErr() })
	w.refused("nodes.GetInventory", 404, func() error { return nodes.GetInventory(ctx, w.api, node).Err })
	w.orders(ctx, node, nodes.ProvisionStateOpts{Target: nodes.TargetInspect}, nodes.Manageable)
	w.does("nodes.GetInventory", func() error {
		found, err := nodes.GetInventory(ctx, w.api, node).Extract()
		if err == nil && found.Inventory.SystemVendor.Manufacturer == "" {
			err = fmt.Errorf("%s", shown(found.Inventory))
		}
		return err
	})
}

func (w *walker) powers(ctx context.Context, node string, target nodes.TargetPowerState, state string) bool {
	return w.does("nodes.ChangePowerState", func() error {
		if err := nodes.ChangePowerState(ctx, w.api, node, nodes.PowerStateOpts{Target: target, Timeout: 60}).ExtractErr(); err != nil {
			return err
		}
		return w.comes(ctx, node, "is "+state, func(seen *nodes.Node) bool {
			return seen.PowerState == state && seen.TargetPowerState == "" && seen.Reservation == ""
		})
	})
}

// settings are what a node keeps: volumes, BIOS, firmware.
func (w *walker) settings(ctx context.Context, node string) {
	size, root := 100, true
	w.does("nodes.SetRAIDConfig", func() error {
		return nodes.SetRAIDConfig(ctx, w.api, node, nodes.RAIDConfigOpts{LogicalDisks: []nodes.LogicalDisk{
			{SizeGB: &size, RAIDLevel: nodes.RAID1, IsRootVolume: &root, VolumeName: "root"},
		}}).ExtractErr()
	})
	w.orders(ctx, node, nodes.ProvisionStateOpts{Target: nodes.TargetClean, CleanSteps: []nodes.CleanStep{
		{Interface: nodes.InterfaceRAID, Step: "delete_configuration"},
		{Interface: nodes.InterfaceRAID, Step: "create_configuration", Args: map[string]any{"create_nonroot_volumes": false}},
		{Interface: nodes.InterfaceBIOS, Step: "factory_reset"},
	}}, nodes.Manageable)
	var first string
	w.does("nodes.ListBIOSSettings", func() error {
		for _, opts := range []nodes.ListBIOSSettingsOpts{{}, {Detail: true}, {Fields: []string{"name", "value", "read_only"}}} {
			found, err := nodes.ListBIOSSettings(ctx, w.api, node, opts).Extract()
			if err != nil {
				return err
			}
			if len(found) == 0 {
				return fmt.Errorf("no settings")
			}
			first = found[0].Name
		}
		return nil
	})
	// The library looks for a key called Setting; Ironic's reply has the setting's own name there.
	w.does("nodes.GetBIOSSetting", func() error {
		var found map[string]nodes.BIOSSetting
		if err := nodes.GetBIOSSetting(ctx, w.api, node, first).ExtractInto(&found); err != nil {
			return err
		}
		return same("name", found[first].Name, first)
	})
	w.does("nodes.ListFirmware", func() error {
		found, err := nodes.ListFirmware(ctx, w.api, node).Extract()
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("no components")
		}
		return err
	})
}

func (w *walker) media(ctx context.Context, node string) {
	w.does("nodes.AttachVirtualMedia", func() error {
		return nodes.AttachVirtualMedia(ctx, w.api, node, nodes.AttachVirtualMediaOpts{
			DeviceType: nodes.VirtualMediaCD, ImageURL: "http://images.example.org/tool.iso",
		}).ExtractErr()
	})
	w.does("nodes.GetVirtualMedia", func() error {
		return nodes.GetVirtualMedia(ctx, w.api, node).Err
	})
	w.does("nodes.DetachVirtualMedia", func() error {
		return nodes.DetachVirtualMedia(ctx, w.api, node, nodes.DetachVirtualMediaOpts{
			DeviceTypes: []nodes.VirtualMediaDeviceType{nodes.VirtualMediaCD},
		}).ExtractErr()
	})
	w.does("nodes.AttachVirtualInterface", func() error {
		return nodes.AttachVirtualInterface(ctx, w.api, node, nodes.VirtualInterfaceOpts{ID: "net-1"}).ExtractErr()
	})
	w.does("nodes.ListVirtualInterfaces", func() error {
		found, err := nodes.ListVirtualInterfaces(ctx, w.api, node).Extract()
		if err != nil {
			return err
		}
		return same("interfaces", found, []nodes.VIF{{ID: "net-1"}})
	})
	w.does("nodes.DetachVirtualInterface", func() error {
		return nodes.DetachVirtualInterface(ctx, w.api, node, "net-1").ExtractErr()
	})
}

// subscriptions are the one vendor passthru that has functions of its own.
func (w *walker) subscriptions(ctx context.Context, node string) {
	method := func(name string) nodes.CallVendorPassthruOpts { return nodes.CallVendorPassthruOpts{Method: name} }
	w.does("nodes.GetVendorPassthruMethods", func() error {
		found, err := nodes.GetVendorPassthruMethods(ctx, w.api, node).Extract()
		if err == nil && len(found.CreateSubscription.HTTPMethods) == 0 {
			err = fmt.Errorf("no create_subscription in %s", shown(found))
		}
		return err
	})
	w.does("nodes.ListVendorPassthruMethods", func() error {
		_, err := nodes.ListVendorPassthruMethods(ctx, w.api, node).Extract()
		return err
	})
	var id string
	w.does("nodes.CreateSubscription", func() error {
		made, err := nodes.CreateSubscription(ctx, w.api, node, method("create_subscription"), nodes.CreateSubscriptionOpts{
			Destination: "https://events.example.org/redfish", EventTypes: []string{"Alert"}, Context: "metal", Protocol: "Redfish",
		}).Extract()
		if err == nil {
			id = made.Id
		}
		return err
	})
	w.does("nodes.GetAllSubscriptions", func() error {
		_, err := nodes.GetAllSubscriptions(ctx, w.api, node, method("get_all_subscriptions")).Extract()
		return err
	})
	w.does("nodes.GetSubscription", func() error {
		found, err := nodes.GetSubscription(ctx, w.api, node, method("get_subscription"), nodes.GetSubscriptionOpts{Id: id}).Extract()
		if err != nil {
			return err
		}
		return same("destination", found.Destination, "https://events.example.org/redfish")
	})
	w.does("nodes.DeleteSubscription", func() error {
		return nodes.DeleteSubscription(ctx, w.api, node, method("delete_subscription"), nodes.DeleteSubscriptionOpts{Id: id}).ExtractErr()
	})
	w.refused("nodes.CallVendorPassthru", 400, func() error {
		return nodes.CallVendorPassthru(ctx, w.api, node, http.MethodPost, nodes.VendorPassthruCallOpts{Method: "no_such_method"}).Err
	})
	w.refused("drivers.CallVendorPassthru", 400, func() error {
		return drivers.CallVendorPassthru(ctx, w.api, "redfish", http.MethodPost, drivers.VendorPassthruCallOpts{Method: "no_such_method"}).Err
	})
}

// lifecycle makes the node available, has it allocated and in use, and takes it back.
func (w *walker) lifecycle(ctx context.Context, given setting, node string) {
	w.does("nodes.Update", func() error {
		_, err := nodes.Update(ctx, w.api, node, nodes.UpdateOpts{
			nodes.UpdateOperation{Op: nodes.ReplaceOp, Path: "/automated_clean", Value: false},
			nodes.UpdateOperation{Op: nodes.ReplaceOp, Path: "/deploy_interface", Value: "noop"},
		}).Extract()
		return err
	})
	if !w.orders(ctx, node, nodes.ProvisionStateOpts{Target: nodes.TargetProvide}, nodes.Available) {
		return
	}
	first, second := given.Name+"-first", given.Name+"-second"
	w.allocated(ctx, given, node, first)
	w.does("allocations.Delete", func() error { return allocations.Delete(ctx, w.api, first).ExtractErr() })
	w.allocated(ctx, given, node, second)
	w.orders(ctx, node, nodes.ProvisionStateOpts{Target: nodes.TargetActive}, nodes.Active)
	w.orders(ctx, node, nodes.ProvisionStateOpts{Target: nodes.TargetService, ServiceSteps: []nodes.ServiceStep{
		{Interface: nodes.InterfacePower, Step: "reboot"},
	}}, nodes.Active)
	w.orders(ctx, node, nodes.ProvisionStateOpts{Target: nodes.TargetDeleted}, nodes.Available)
	w.refused("allocations.Get", 404, func() error { return allocations.Get(ctx, w.api, second).Err })
}
