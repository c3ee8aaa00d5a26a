// Metal3: a host is prepared, provisioned, serviced, deprovisioned and deleted.

package main

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
)

const imageURL = "http://images.example.org/debian-13.raw"

var imageHash = fmt.Sprintf("%064x", 11)

// preparing sets volumes, BIOS settings, and looks at the firmware.
func (h *host) preparing() bool {
	size, root := 100, true
	var setting nodes.BIOSSetting
	return h.does("GET bios", func() (err error) {
		settings, err := nodes.ListBIOSSettings(h.ctx, h.api, h.uuid, nodes.ListBIOSSettingsOpts{Detail: true}).Extract()
		if err != nil {
			return err
		}
		setting, err = changeable(settings)
		return err
	}) && h.does("GET firmware", func() error {
		found, err := nodes.ListFirmware(h.ctx, h.api, h.uuid).Extract()
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("no components")
		}
		return err
	}) && h.does("PUT raid", func() error {
		return nodes.SetRAIDConfig(h.ctx, h.api, h.uuid, nodes.RAIDConfigOpts{LogicalDisks: []nodes.LogicalDisk{
			{SizeGB: &size, RAIDLevel: nodes.RAID1, IsRootVolume: &root, VolumeName: "root"},
		}}).ExtractErr()
	}) && h.orders(h.ctx, h.uuid, nodes.ProvisionStateOpts{Target: nodes.TargetClean, CleanSteps: []nodes.CleanStep{
		{Interface: nodes.InterfaceRAID, Step: "delete_configuration"},
		{Interface: nodes.InterfaceRAID, Step: "create_configuration"},
		{Interface: nodes.InterfaceBIOS, Step: "apply_configuration", Args: map[string]any{
			"settings": []map[string]any{{"name": setting.Name, "value": setting.AllowableValues[1]}},
		}},
	}}, nodes.Manageable) && h.does("GET bios", func() error {
		settings, err := nodes.ListBIOSSettings(h.ctx, h.api, h.uuid, nil).Extract()
		if err != nil {
			return err
		}
		for _, one := range settings {
			if one.Name == setting.Name {
				return same("the setting "+one.Name, one.Value, setting.AllowableValues[1])
			}
		}
		return fmt.Errorf("the setting %s is gone", setting.Name)
	})
}

// changeable is a setting with values to choose from whose first is in force, so that the second is a change.
func changeable(settings []nodes.BIOSSetting) (nodes.BIOSSetting, error) {
	for _, one := range settings {
		// What the boot mode is, the node's own capabilities decide.
		if (one.ReadOnly == nil || !*one.ReadOnly) && len(one.AllowableValues) > 1 && !strings.Contains(one.Name, "Boot") {
			if one.Value == one.AllowableValues[1] {
				one.AllowableValues[1] = one.AllowableValues[0]
			}
			return one, nil
		}
	}
	return nodes.BIOSSetting{}, fmt.Errorf("none of %d settings can be chosen", len(settings))
}

func (h *host) available() bool {
	return h.orders(h.ctx, h.uuid, nodes.ProvisionStateOpts{Target: nodes.TargetProvide}, nodes.Available)
}

// instanceInfo is what the operator compares with what it wants, before and after it provisions.
var instanceInfo = map[string]any{
	"capabilities": map[string]any{"boot_mode": "uefi"}, "root_device": map[string]any{"name": "s== /dev/sda"},
	"image_source": imageURL, "image_os_hash_algo": "sha256", "image_os_hash_value": imageHash, "image_disk_format": "raw",
}

func (h *host) provisioning() bool {
	return h.does("instance written", func() error {
		changed, err := h.updates(
			add("/instance_uuid", h.instance),
			add("/instance_info/capabilities", instanceInfo["capabilities"]), add("/instance_info/root_device", instanceInfo["root_device"]),
			add("/instance_info/image_source", imageURL), add("/instance_info/image_disk_format", "raw"),
			add("/instance_info/image_os_hash_algo", "sha256"), add("/instance_info/image_os_hash_value", imageHash),
			add("/driver_info/force_persistent_boot_device", "Default"),
		)
		if err != nil {
			return err
		}
		if err := same("instance_uuid", changed.InstanceUUID, h.instance); err != nil {
			return err
		}
		return same("instance_info", changed.InstanceInfo, instanceInfo)
	}) && h.does("GET validate", func() error {
		found, err := nodes.Validate(h.ctx, h.api, h.uuid).Extract()
		if err == nil && !(found.Boot.Result && found.Deploy.Result) {
			err = fmt.Errorf("boot: %s; deploy: %s", found.Boot.Reason, found.Deploy.Reason)
		}
		return err
	}) && h.orders(h.ctx, h.uuid, nodes.ProvisionStateOpts{Target: nodes.TargetActive, ConfigDrive: nodes.ConfigDrive{
		UserData: "#cloud-config\n", NetworkData: map[string]any{"links": []any{}, "networks": []any{}, "services": []any{}},
		MetaData: map[string]any{"uuid": h.instance, "metal3-namespace": "metal3", "metal3-name": "host", "local-hostname": "host", "name": "host"},
	}}, nodes.Active)
}

func (h *host) servicing() bool {
	return h.orders(h.ctx, h.uuid, nodes.ProvisionStateOpts{Target: nodes.TargetService, ServiceSteps: []nodes.ServiceStep{
		{Interface: nodes.InterfaceBIOS, Step: "factory_reset"},
	}}, nodes.Active)
}

// deprovisioning tears the instance down; what it was is forgotten then.
func (h *host) deprovisioning() bool {
	return h.does("automated_clean", func() error {
		_, err := h.updates(add("/automated_clean", true))
		return err
	}) && h.orders(h.ctx, h.uuid, nodes.ProvisionStateOpts{Target: nodes.TargetDeleted}, nodes.Available) &&
		h.does("instance forgotten", func() error {
			seen, err := nodes.Get(h.ctx, h.api, h.uuid).Extract()
			if err != nil {
				return err
			}
			return same("instance_uuid, image_source", []any{seen.InstanceUUID, seen.InstanceInfo["image_source"]}, []any{"", nil})
		})
}

// adopted is a host that somebody else provisioned: manageable, described, adopted.
func (h *host) adopted() bool {
	return h.orders(h.ctx, h.uuid, nodes.ProvisionStateOpts{Target: nodes.TargetManage}, nodes.Manageable) &&
		h.does("image of another", func() error {
			_, err := h.updates(add("/instance_uuid", h.instance), add("/instance_info/image_source", imageURL),
				add("/instance_info/image_os_hash_algo", "sha256"), add("/instance_info/image_os_hash_value", imageHash))
			return err
		}) && h.orders(h.ctx, h.uuid, nodes.ProvisionStateOpts{Target: nodes.TargetAdopt}, nodes.Active)
}

// deleting takes the host out of the service and lets the machine run: maintenance is what permits it.
func (h *host) deleting() bool {
	return h.does("PUT maintenance", func() error {
		return nodes.SetMaintenance(h.ctx, h.api, h.uuid, nodes.MaintenanceOpts{Reason: "forcing deletion in baremetal-operator"}).ExtractErr()
	}) && h.does("DELETE node", func() error { return nodes.Delete(h.ctx, h.api, h.uuid).ExtractErr() }) &&
		h.does("gone", func() error {
			if err := nodes.Get(h.ctx, h.api, h.uuid).Err; !gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
				return fmt.Errorf("expected 404, got: %v", err)
			}
			return nil
		})
}
