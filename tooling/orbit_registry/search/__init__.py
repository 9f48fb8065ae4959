"""How texts are compared and found: terms, similarity, ranking; what is kept from run to run goes through `store`."""
