"""The order of a set is the hash seed's, which a replay keeps."""

import os
import urllib.parse
import urllib.request

words = {"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"}
print(urllib.request.urlopen(os.environ["BASE"] + "/echo?" + urllib.parse.urlencode({"q": " ".join(words)})).read().decode())
