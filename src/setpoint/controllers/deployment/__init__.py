"""The Deployment controller: one ReplicaSet per version of the template, and an orderly way from one to the next."""
