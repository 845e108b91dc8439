"""Role-based access control: roles and bindings, indexed by subject and then by verb and resource."""
