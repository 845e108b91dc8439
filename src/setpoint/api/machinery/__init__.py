"""Kind-blind parts of the API: schema trees, decoding, selectors, quantities, patches, Status errors."""
