"""Layer 2: keys, sealed boxes, Merkle trees and signed notes. Pure: entropy is handed in, nothing is read or written."""
